package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/skeincrawl/skein/crawl"
)

// state is the spider's own state. Changes are made by the loop, in the order of
// commits; callbacks read it.
type state struct {
	mu   sync.RWMutex
	v    any    // pointer, owned by the spider
	last []byte // v as of the last change, nil before the first
}

func newState(sp crawl.Spider) *state {
	s, ok := sp.(crawl.Stater)
	if !ok {
		return nil
	}
	v := s.State()
	if values, ok := v.(*crawl.Values); ok && *values == nil {
		*values = crawl.Values{}
	}
	return &state{v: v}
}

// load reads the state as a job kept it.
func (s *state) load(b []byte) error {
	if s == nil || b == nil {
		return nil
	}
	if err := json.Unmarshal(b, s.v); err != nil {
		return fmt.Errorf("read the spider's state: %w", err)
	}
	return nil
}

func (s *state) read(f func(any)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f(s.v)
}

// apply makes the changes of one step and returns the state after them. If one
// fails, or the state can not be encoded any more, none of them is made.
func (s *state) apply(changes []func(any)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		var err error
		if s.last, err = json.Marshal(s.v); err != nil {
			return nil, fmt.Errorf("encode the spider's state: %w", err)
		}
	}
	b, err := s.change(changes)
	if err != nil {
		return nil, errors.Join(err, s.restore())
	}
	s.last = b
	return b, nil
}

func (s *state) change(changes []func(any)) ([]byte, error) {
	for _, change := range changes {
		if err := crawl.Guard(func() error { change(s.v); return nil }); err != nil {
			return nil, fmt.Errorf("change the spider's state: %w", err)
		}
	}
	b, err := json.Marshal(s.v)
	if err != nil {
		return nil, fmt.Errorf("encode the spider's state: %w", err)
	}
	if values, ok := s.v.(*crawl.Values); ok { // of the kinds that they have after a resume
		return b, values.UnmarshalJSON(b)
	}
	return b, nil
}

// restore takes the state back to where it was before the last changes.
func (s *state) restore() error {
	reflect.ValueOf(s.v).Elem().SetZero()
	if err := json.Unmarshal(s.last, s.v); err != nil {
		return fmt.Errorf("restore the spider's state: %w", err)
	}
	return nil
}
