package scheduler

import "time"

const (
	// maxSuspicion is at how many deaths of the process a request may have been
	// with spider code before it is put off. Most often it was there by chance.
	maxSuspicion = 1

	// maxCrashes is at how many deaths it may have been there alone. After that it
	// is not tried again.
	maxCrashes = 5
)

// grantAll grants up to want leases. Suspects come when nothing else is left, one
// at a time, so that if the process dies once more it is known of what.
func (f *Local) grantAll(g *Grant, want int, now time.Time) error {
	for len(g.Leases) < want && !f.paused {
		if f.alone != 0 && len(f.leases) > 0 {
			return nil
		}
		l, ok, err := f.grant(now)
		if err != nil {
			return err
		}
		if ok {
			g.Leases = append(g.Leases, l)
			continue
		}
		if called, err := f.callSuspect(now); !called {
			return err
		}
	}
	return nil
}

// callSuspect queues the next suspect, if its time has come.
func (f *Local) callSuspect(now time.Time) (bool, error) {
	if len(f.suspects) == 0 || f.alone != 0 || len(f.leases) > 0 || f.pending() > int64(len(f.suspects)) {
		return false, nil
	}
	r := f.suspects[0]
	f.suspects = f.suspects[1:]
	f.alone = r.ID
	return true, f.queue(r, disk, now)
}

// suspicion is what the journal tells of the deaths of earlier processes.
type suspicion struct {
	deaths, alone int
}

// number and suspicionOf are the form in a snapshot.
func (s suspicion) number() uint64 { return uint64(s.deaths)<<32 | uint64(s.alone) }

func suspicionOf(n uint64) suspicion { return suspicion{deaths: int(n >> 32), alone: int(uint32(n))} }
