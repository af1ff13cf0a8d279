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
