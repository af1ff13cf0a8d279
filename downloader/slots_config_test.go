package downloader

import (
	"testing"
	"time"
)

// SLOT-01, SLOT-02 and patterns.
func TestDownloadSlots(t *testing.T) {
	t.Parallel()
	cfg := SlotsConfig{Concurrency: 8, Delay: time.Second, Slots: map[string]any{
		"example.com":     map[string]any{"concurrency": 1, "delay": 2, "randomize_delay": false},
		"*.example.com":   map[string]any{"delay": 0.5},
		"*.a.example.com": map[string]any{"concurrency": 3},
		"*.com":           map[string]any{"delay": 7},
		"BÜCHER.example":  map[string]any{"concurrency": 2},
		"My Slot":         map[string]any{"delay": 0},
		"ported.test:80":  map[string]any{"delay": "250ms"}, // slots have no ports
		"[::1]:8080":      map[string]any{"delay": "3"},
		"quick.test":      map[string]any{"delay": time.Millisecond},
	}, Randomize: true}
	s := NewSlots(cfg)
	for name, want := range map[string]slotParams{
		"example.com":           {1, 2 * time.Second, true, false, true},
		"www.example.com":       {8, time.Second / 2, true, true, true},
		"a.example.com":         {8, time.Second / 2, true, true, true},
		"x.y.a.example.com":     {3, time.Second, false, true, true},
		"other.com":             {8, 7 * time.Second, true, true, true},
		"com":                   {8, time.Second, false, true, true},
		"notexample.org":        {8, time.Second, false, true, true},
		"xn--bcher-kva.example": {2, time.Second, false, true, true},
		"My Slot":               {8, 0, true, true, true},
		"ported.test":           {8, time.Second / 4, true, true, true},
		"[::1]":                 {8, 3 * time.Second, true, true, true},
		"quick.test":            {8, time.Millisecond, true, true, true},
		"":                      {8, time.Second, false, true, true},
	} {
		if got := *s.params.find(name); got != want {
			t.Errorf("%q: got %+v, want %+v", name, got, want)
		}
	}
}

// SLOT-02: each slot keeps its own delay.
func TestDownloadSlotsDelays(t *testing.T) {
	t.Parallel()
	s := NewSlots(SlotsConfig{Concurrency: 8, Delay: time.Second, Slots: map[string]any{
		"quotes": map[string]any{"delay": 2}, "books": map[string]any{"delay": 3}, "quick": map[string]any{"delay": 0, "concurrency": 1},
	}})
	for name, delay := range map[string]float64{"quotes": 2, "books": 3, "default": 1} {
		if !s.Take(name, at(0)) {
			t.Errorf("%s is not paced", name)
		}
		s.Sent(name, at(0))
		wantBusy(t, s, name, 0, delay)
		wantReady(t, s, name, delay)
	}
	if s.Take("quick", at(0)) {
		t.Error("a slot without delay is paced")
	}
	wantBusy(t, s, "quick", 0, -1)
	s.Free("quick", at(1), Ended{})
	wantReady(t, s, "quick", 1)
}
