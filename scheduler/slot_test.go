package scheduler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/settings"
)

// roomySlots let everything start, and count.
type roomySlots map[string]int

func (s roomySlots) Ready(string, time.Time) (ok bool, at time.Time)     { return true, at }
func (s roomySlots) DelayOnly(string, time.Time) (ok bool, at time.Time) { return true, at }
func (s roomySlots) Take(slot string, _ time.Time) bool                  { s[slot]++; return false }
func (s roomySlots) Sent(string, time.Time)                              {}
func (s roomySlots) Active(slot string) int                              { return s[slot] }

func (s roomySlots) Free(slot string, _ time.Time, _ SlotHint) {
	if s[slot]--; s[slot] == 0 {
		delete(s, slot)
	}
}

// openRoomy opens a frontier in memory.
func openRoomy(t *testing.T, queue string) *Local {
	t.Helper()
	b := settings.New()
	b.Assign("SCHEDULER_PRIORITY_QUEUE=" + queue)
	st, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	env := &crawl.Env{Settings: st, Log: zerolog.Nop(), Stats: crawl.NewStats()}
	f, _, err := NewLocal(Deps{Env: env, Slots: roomySlots{}, Job: jobs.Volatile(nil)}, settings.Decode[Config](st))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(context.Background(), "finished"); err != nil {
			t.Error(err)
		}
	})
	return f
}

func step(t *testing.T, f *Local, want int, done ...Outcome) []Lease {
	t.Helper()
	g, err := f.Step(t.Context(), nil, done, want)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(g.Leases)
}

func linksTo(slots ...string) (push []Entry) {
	for _, s := range slots {
		push = append(push, Entry{Request: &crawl.Request{URL: "http://" + s, DontFilter: true}, Slot: s, Body: []byte(s)})
	}
	return push
}

// wantSlots wants the frontier to know of these slots and no others.
func wantSlots(t *testing.T, f *Local, want ...string) {
	t.Helper()
	var got []string
	for name := range f.bySlot {
		got = append(got, name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("slots %v, want %v", got, want)
	}
}

// TestSlotsPassThrough covers PQ-16 and PQ-18 at length: of 100,000 slots that a
// crawl passes through nothing is left, and never more is there than is in use.
func TestSlotsPassThrough(t *testing.T) {
	t.Parallel()
	for _, queue := range []string{"downloader-aware", "priority"} {
		t.Run(queue, func(t *testing.T) {
			t.Parallel()
			const names, width = 100_000, 16
			f := openRoomy(t, queue)
			order := rand.New(rand.NewPCG(1, 2)).Perm(names)
			name := func(i int) string { return fmt.Sprintf("host-%d.test", order[i]) }
			for i := range width {
				step(t, f, 0, Outcome{Kind: StartEntry, Key: Key{Ordinal: uint64(i + 1)}, Push: linksTo(name(i))})
			}
			for next := width; ; {
				leases := step(t, f, 4)
				if len(leases) == 0 {
					break
				}
				var done []Outcome
				for _, l := range leases {
					o := Outcome{Key: Key{Lease: l.ID}}
					if next < names {
						o.Push = linksTo(name(next))
						o.Push[0].Request.Priority = next / 100
						next++
					}
					done = append(done, o)
				}
				if step(t, f, 0, done...); len(f.bySlot) > width {
					t.Fatalf("%d slots after %d names, want %d at most", len(f.bySlot), next, width)
				}
			}
			wantSlots(t, f)
			if root := f.layers[memory].ready.root; len(root.lots)+len(root.kids) > 0 {
				t.Errorf("%d slots and %d blocks are ready in the end, want none", len(root.lots), len(root.kids))
			}
		})
	}
}

// TestSlotStaysWhileLeased covers what PQ-16 leaves open: a slot is there while
// one of its requests is pending or leased, and not longer.
func TestSlotStaysWhileLeased(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  Outcome
		left []string
	}{
		"done":              {Outcome{}, nil},
		"done with a link":  {Outcome{Push: linksTo("a")}, []string{"a"}},
		"done, link to b":   {Outcome{Push: linksTo("b")}, []string{"b"}},
		"released":          {Outcome{Kind: Release}, []string{"a"}},
		"given up":          {Outcome{Kind: Dead}, nil},
		"a part, then done": {Outcome{Kind: Part, Push: linksTo("a", "b")}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openRoomy(t, "downloader-aware")
			step(t, f, 0, Outcome{Kind: StartEntry, Key: Key{Ordinal: 1}, Push: linksTo("a")})
			l := step(t, f, 1)[0]
			if _, err := f.Step(t.Context(), []Progress{{Lease: l.ID, Settled: true}}, nil, 1); err != nil {
				t.Fatal(err)
			}
			wantSlots(t, f, "a")
			if c.end.Key.Lease = l.ID; c.end.Kind == Part {
				c.end.Key.Ordinal = 1
				step(t, f, 0, c.end, Outcome{Key: Key{Lease: l.ID}})
			} else {
				step(t, f, 0, c.end)
			}
			wantSlots(t, f, c.left...)
			leases := step(t, f, 9)
			if len(leases) != len(c.left) {
				t.Errorf("%d leases afterwards, want %d", len(leases), len(c.left))
			}
			for _, l := range leases {
				step(t, f, 0, Outcome{Key: Key{Lease: l.ID}})
			}
			wantSlots(t, f)
		})
	}
}

// TestSlotLots checks where a slot keeps its layers: the first in itself, whichever
// it is, and each only as long as it is used.
func TestSlotLots(t *testing.T) {
	t.Parallel()
	for _, first := range []int{memory, disk} {
		s := &slot{name: "a"}
		one := s.lot(first)
		other := s.lot(1 - first)
		if one != &s.own || other == one || one.slot != s || other.slot != s || s.lot(first) != one {
			t.Errorf("layer %d first: the layers are not apart, or the first is not in the slot", first)
		}
		s.lots[first] = nil
		if s.lot(1-first) != other || s.idle() {
			t.Errorf("layer %d first: the other one does not outlive it", first)
		}
		s.lots[1-first] = nil
		if !s.idle() || s.lot(1-first) != &s.own {
			t.Errorf("layer %d first: the slot is not free for the other layer", first)
		}
	}
}
