package cmd

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

func TestStopper(t *testing.T) {
	t.Parallel()
	signals, exits := make(chan os.Signal), make(chan int)
	stopped, cut := make(chan struct{}), make(chan struct{})
	sys := &system{Signals: signals, Exit: func(code int) { exits <- code }}
	s := newStopper(sys, zerolog.Nop(), func() { close(stopped) })
	s.onCut(func() { close(cut) })
	signals <- syscall.SIGTERM
	<-stopped
	select {
	case <-s.cut:
		t.Error("the first signal cut the wire")
	default:
	}
	signals <- os.Interrupt
	<-cut
	for range 2 { // whoever waits for the end may press more often
		signals <- os.Interrupt
		if got := <-exits; got != exitTerminated {
			t.Errorf("exit code %d, want that of the first signal, %d", got, exitTerminated)
		}
	}
	if got := s.close(); got != syscall.SIGTERM {
		t.Errorf("close() = %v, want the first signal", got)
	}
}

// A supervisor may send a signal to the process and to its whole group: the echo
// does not count.
func TestStopperTakesNoEcho(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal)
		s := newStopper(&system{Signals: signals, Bounce: 50 * time.Millisecond}, zerolog.Nop(), func() {})
		signals <- os.Interrupt
		signals <- os.Interrupt
		synctest.Wait()
		select {
		case <-s.cut:
			t.Error("the echo cut the wire")
		default:
		}
		<-time.After(60 * time.Millisecond)
		signals <- os.Interrupt
		<-s.cut
		s.close()
	})
}

// TestStopperWithoutSignal holds that nothing is left behind or called when no
// signal comes. TestMain finds goroutines that stay.
func TestStopperWithoutSignal(t *testing.T) {
	t.Parallel()
	s := newStopper(&system{}, zerolog.Nop(), func() { t.Error("it stopped without a signal") })
	s.onCut(func() { t.Error("the wire was cut without a signal") })
	if got := s.close(); got != nil {
		t.Errorf("close() = %v, want nil", got)
	}
}
