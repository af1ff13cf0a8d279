package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// An UnknownCallbackError says that a job has requests for callbacks that the
// spider lacks.
type UnknownCallbackError struct {
	Spider string
	Counts map[string]int // by the name of the callback
}

// Error names the callbacks.
func (e *UnknownCallbackError) Error() string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(e.Counts)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%d requests)", name, e.Counts[name])
	}
	return fmt.Sprintf("the job has requests for callbacks that spider %s of this binary does not have: %s", e.Spider, b.String())
}

// Is matches [jobs.ErrUnusable].
func (e *UnknownCallbackError) Is(target error) bool { return target == jobs.ErrUnusable }

// checkCallbacks refuses a job whose pending requests need callbacks that the
// spider lacks. Requests are read only if the job ever used such a callback.
func (r *recovery) checkCallbacks(env *crawl.Env) error {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(r.names)), func(name string) bool { return !env.Callbacks.Has(name) }) {
		return nil
	}
	counts := map[string]int{}
	var buf []byte
	for _, p := range r.pending {
		var err error
		if buf, err = r.f.job.Read(jobs.Addr(p.id), buf[:0]); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		stored, err := crawl.ReadStored(buf)
		if err != nil {
			return err
		}
		for _, name := range []string{stored.Callback, stored.Errback} {
			if name != "" && !env.Callbacks.Has(name) {
				counts[name]++
			}
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return &UnknownCallbackError{Spider: env.Spec.Name, Counts: counts}
}
