package engine

import (
	"reflect"
	"time"

	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/scheduler"
)

// slots lets the frontier use the downloader's slots, neither knowing the other.
type slots struct{ *downloader.Slots }

var _ scheduler.Slots = slots{}

// Free implements [scheduler.Slots].
func (s slots) Free(slot string, now time.Time, h scheduler.SlotHint) {
	s.Slots.Free(slot, now, downloader.Ended(h))
}

var _ scheduler.SlotRestorer = slots{}

// slotsNote is the note in which a job keeps what was learned about slots.
const slotsNote = "slots"

// Restore implements [scheduler.SlotRestorer].
func (s slots) Restore(notes map[string][]byte, now time.Time) error {
	return s.Slots.Restore(notes[slotsNote], now)
}

// isNil reports whether a constructor answered with nothing.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Func, reflect.Pointer, reflect.Map, reflect.Interface:
		return rv.IsNil()
	}
	return false
}
