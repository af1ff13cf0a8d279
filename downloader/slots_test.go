package downloader

import (
	"fmt"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a time in seconds since the beginning of a test.
func at(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }

func wantReady(t *testing.T, s *Slots, slot string, now float64) {
	t.Helper()
	if ok, when := s.Ready(slot, at(now)); !ok {
		t.Errorf("at %gs slot %s is not ready until %v, want ready", now, slot, when.Sub(epoch))
	}
}

// wantBusy wants the slot to be ready at a later time, or -1 for one unknown.
func wantBusy(t *testing.T, s *Slots, slot string, now, until float64) {
	t.Helper()
	want := time.Time{}
	if until >= 0 {
		want = at(until)
	}
	if ok, when := s.Ready(slot, at(now)); ok || !when.Equal(want) {
		t.Errorf("at %gs slot %s is ready = %v, until %v, want false, until %v", now, slot, ok, when, want)
	}
}

func TestSlotsConcurrency(t *testing.T) {
	s := NewSlots(SlotsConfig{Concurrency: 2})
	for range 2 {
		if s.Take("a", at(0)) {
			t.Error("a slot without delay is paced")
		}
	}
	wantBusy(t, s, "a", 0, -1)
	wantReady(t, s, "b", 0)
	if got := s.Active("a"); got != 2 {
		t.Errorf("active = %d, want 2", got)
	}
	s.Free("a", at(1), Ended{Sent: true, Latency: time.Second})
	wantReady(t, s, "a", 1)
	s.Free("a", at(1), Ended{Sent: true, Latency: time.Second})
	s.Free("a", at(1), Ended{Sent: true, Latency: time.Second}) // one too many does no harm
	if got := s.Active("a"); got != 0 {
		t.Errorf("active = %d, want 0", got)
	}
}

// SLOT-02, SLOT-04: the gap between two sends is the delay, and requests slower
// than it overlap. gospider#15: the delay is that of every host.
func TestSlotsDelay(t *testing.T) {
	s := NewSlots(SlotsConfig{Concurrency: 2, Delay: 2 * time.Second})
	if !s.Take("a", at(0)) {
		t.Error("a slot with delay is not paced")
	}
	wantBusy(t, s, "a", 0, -1) // not sent yet
	wantBusy(t, s, "a", 9, -1)
	s.Sent("a", at(10))
	wantBusy(t, s, "a", 11, 12)
	wantReady(t, s, "a", 12)
	s.Take("a", at(12))
	s.Sent("a", at(12))
	wantBusy(t, s, "a", 20, -1) // two slow downloads overlap, a third has no place
	s.Free("a", at(21), Ended{Sent: true, Latency: time.Second})
	wantReady(t, s, "a", 21)
	wantReady(t, s, "b", 0)
	if !s.Take("b", at(0)) {
		t.Error("the slot of another host has no delay")
	}
	s.Sent("b", at(0))
	wantBusy(t, s, "b", 1, 2)
}

func TestSlotsFree(t *testing.T) {
	one := SlotsConfig{Concurrency: 8, Delay: time.Second}
	t.Run("unused gives the delay back", func(t *testing.T) {
		s := NewSlots(one)
		s.Take("a", at(0))
		s.Free("a", at(5), Ended{Unused: true})
		wantReady(t, s, "a", 5)
	})
	t.Run("a failed dial delays from its end", func(t *testing.T) {
		s := NewSlots(one)
		s.Take("a", at(0))
		s.Free("a", at(5), Ended{})
		wantBusy(t, s, "a", 5, 6)
		wantReady(t, s, "a", 6)
	})
	t.Run("a response beside an unsent request is not it", func(t *testing.T) {
		s := NewSlots(one)
		s.Take("a", at(0))
		s.Sent("a", at(0))
		s.Take("a", at(1))
		s.Free("a", at(2), Ended{Sent: true, Latency: 2 * time.Second})
		wantBusy(t, s, "a", 2, -1)
		s.Sent("a", at(3))
		wantBusy(t, s, "a", 3, 4)
	})
	t.Run("a failed dial beside another request", func(t *testing.T) {
		s := NewSlots(one)
		s.Take("a", at(0))
		s.Sent("a", at(0))
		s.Take("a", at(1))
		s.Free("a", at(2), Ended{})
		wantBusy(t, s, "a", 2, 3)
		wantReady(t, s, "a", 3)
	})
	t.Run("an unknown slot", func(t *testing.T) {
		s := NewSlots(one)
		s.Free("a", at(0), Ended{BackOff: at(9)})
		wantReady(t, s, "a", 0)
	})
}

// Requests that take no place wait for the delay and start it.
func TestSlotsDelayOnly(t *testing.T) {
	s := NewSlots(SlotsConfig{Concurrency: 1, Delay: time.Second})
	s.Take("a", at(0))
	if ok, _ := s.DelayOnly("a", at(0)); !ok {
		t.Error("DelayOnly waits for the place of another request")
	}
	s.Sent("a", at(0))
	if ok, when := s.DelayOnly("a", at(0.5)); ok || !when.Equal(at(1)) {
		t.Errorf("DelayOnly = %v, %v, want false until 1s", ok, when)
	}
	if ok, _ := s.DelayOnly("b", at(0)); !ok {
		t.Error("DelayOnly of a fresh slot waits")
	}
	s.Sent("b", at(0))
	wantBusy(t, s, "b", 0.5, 1)
}

// scrapy/scrapy#3849: Retry-After holds the whole slot, and takes no place.
func TestSlotsBackOff(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second} {
		s := NewSlots(SlotsConfig{Concurrency: 8, Delay: delay})
		s.Take("a", at(0))
		s.Take("a", at(0))
		s.Free("a", at(1), Ended{Latency: time.Second, BackOff: at(8)})
		wantBusy(t, s, "a", 1, map[bool]float64{true: 8, false: -1}[delay == 0])
		s.Free("a", at(2), Ended{Latency: time.Second, BackOff: at(5)}) // a shorter one does not shorten it
		wantBusy(t, s, "a", 7, 8)
		wantReady(t, s, "a", 8)
	}
}

// SLOT-05: each delay is drawn anew.
func TestSlotsRandomize(t *testing.T) {
	s := NewSlots(SlotsConfig{Concurrency: 1, Delay: 2 * time.Second, Randomize: true})
	draws := []float64{0, 0.5, 0.999}
	s.rand = func() float64 { d := draws[0]; draws = draws[1:]; return d }
	now := 0.0
	for _, gap := range []float64{1, 2, 2.998} {
		s.Take("a", at(now))
		s.Sent("a", at(now))
		s.Free("a", at(now), Ended{Sent: true, Latency: time.Second})
		wantBusy(t, s, "a", now, now+gap)
		now += gap
	}
}

// scrapy/scrapy#110: an idle slot is remembered as long as its delay runs, and
// no longer.
func TestSlotsForgetIdle(t *testing.T) {
	s := NewSlots(SlotsConfig{Concurrency: 1, Delay: time.Second})
	visit := func(name string, now float64) {
		s.Take(name, at(now))
		s.Sent(name, at(now))
		s.Free(name, at(now), Ended{Sent: true, Latency: time.Second})
	}
	visit("first", 0)
	wantBusy(t, s, "first", 0.9, 1)
	most := 0
	for i := range 10_000 {
		visit(fmt.Sprint("host", i), float64(i)/100)
		most = max(most, len(s.m))
	}
	if most > 400 { // 100 slots a second, each remembered for a second
		t.Errorf("%d slots were remembered at once, want about 100", most)
	}
	for range 400 {
		visit("last", 1000)
	}
	if len(s.m) != 1 {
		t.Errorf("%d slots are left, want 1", len(s.m))
	}
	if len(s.parked) > 1 {
		t.Errorf("%d slots are parked, want 1 at most", len(s.parked))
	}
}

// apify/crawlee-python#2157, SLOT-03 and SLOT-09: one slot for a host, however it is
// spelled.
func TestSlotKey(t *testing.T) {
	for url, want := range map[string]string{
		"https://Example.COM:8443/a": "example.com",
		"http://user:pw@a.test/":     "a.test",
		"http://i❤.ws/":              "xn--i-7iq.ws",
		"http://foo_bar.example/":    "foo_bar.example",
		"http://0x7f.1/":             "127.0.0.1",
		"data:,x":                    "",
	} {
		if got := SlotKey(url); got != want {
			t.Errorf("SlotKey(%q) = %q, want %q", url, got, want)
		}
	}
}

// BenchmarkSlots is one request through one of 100,000 slots that are all busy
// or waiting.
func BenchmarkSlots(b *testing.B) {
	s := NewSlots(SlotsConfig{Concurrency: 8, Delay: 24 * time.Hour})
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("host%d.test", i)
		s.Take(names[i], epoch)
		s.Sent(names[i], epoch)
		s.Free(names[i], epoch, Ended{Sent: true, Latency: time.Second})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		name := names[i%len(names)]
		s.Ready(name, epoch)
		s.Take(name, epoch)
		s.Sent(name, epoch)
		s.Free(name, epoch, Ended{Sent: true, Latency: time.Second})
		i++
	}
}
