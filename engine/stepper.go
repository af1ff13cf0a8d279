package engine

import (
	"context"

	"github.com/skeincrawl/skein/scheduler"
)

// stepper calls Frontier.Step beside the loop, one call at a time.
type stepper struct {
	requests chan stepRequest
	results  chan stepResult
}

type stepRequest struct {
	progress []scheduler.Progress
	done     []scheduler.Outcome
	acks     []chan error
	want     int
}

type stepResult struct {
	grant scheduler.Grant
	acks  []chan error
	err   error
}

func newStepper() *stepper {
	return &stepper{requests: make(chan stepRequest, 1), results: make(chan stepResult, 1)}
}

// run serves requests until the channel is closed.
func (s *stepper) run(ctx context.Context, f scheduler.Frontier) {
	for q := range s.requests {
		g, err := f.Step(ctx, q.progress, q.done, q.want)
		s.results <- stepResult{grant: g, acks: q.acks, err: err}
	}
}
