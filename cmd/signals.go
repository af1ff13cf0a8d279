package cmd

import (
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// A stopper turns signals into the steps of a stop. The first asks for a stop in
// good order. The second cuts what is in progress. The third leaves the process.
type stopper struct {
	signals <-chan os.Signal
	stop    func()        // called at the first
	cut     chan struct{} // closed at the second
	exit    func(int)     // called at each further one
	log     zerolog.Logger
	bounce  time.Duration
	first   os.Signal
	done    chan struct{}
	wg      sync.WaitGroup
}

// newStopper begins to listen to the signals. It listens until close.
func newStopper(sys *system, log zerolog.Logger, stop func()) *stopper {
	s := &stopper{
		signals: sys.Signals, stop: stop, cut: make(chan struct{}), exit: sys.Exit, log: log, bounce: sys.Bounce, done: make(chan struct{}),
	}
	s.wg.Go(s.listen)
	return s
}

// onCut has f called at the second signal.
func (s *stopper) onCut(f func()) {
	s.wg.Go(func() {
		select {
		case <-s.cut:
			f()
		case <-s.done:
		}
	})
}

// close stops listening, waits for what the stopper started, and returns the
// first signal, or nil if there was none.
func (s *stopper) close() os.Signal {
	close(s.done)
	s.wg.Wait()
	return s.first
}

func (s *stopper) listen() {
	n := 0
	var last os.Signal
	var at time.Time
	for {
		select {
		case <-s.done:
			return
		case sig := <-s.signals:
			if now := time.Now(); sig != last || now.Sub(at) >= s.bounce {
				n++
				last, at = sig, now
				s.take(n, sig)
			}
		}
	}
}

func again(first, sig os.Signal) string {
	if first == sig {
		return "twice"
	}
	return "after " + signalName(first)
}

// take handles the n-th signal. The messages of the first two are Scrapy's.
func (s *stopper) take(n int, sig os.Signal) {
	switch n {
	case 1:
		s.first = sig
		s.log.Info().Msgf("Received %s, shutting down gracefully. Send again to force", signalName(sig))
		s.stop()
	case 2:
		s.log.Info().Msgf("Received %s %s, forcing shutdown", signalName(sig), again(s.first, sig))
		close(s.cut)
	default:
		s.exit(interruptCode(s.first))
	}
}

func signalName(sig os.Signal) string {
	switch sig {
	case os.Interrupt:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	}
	return sig.String()
}
