package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/skeincrawl/skein/crawl"
)

// sections is a probe whose slots are the first part of the path, whose
// priorities are the second, and which admits so many pages of each slot.
type sections struct {
	probe
	budget int

	mu   sync.Mutex
	used map[string]int
}

var (
	_ crawl.SlotKeyer   = (*sections)(nil)
	_ crawl.Prioritizer = (*sections)(nil)
	_ crawl.Admitter    = (*sections)(nil)
)

func (s *sections) SlotKey(r *crawl.Request) string {
	if strings.Contains(r.URL, "/slotpanic") {
		panic("slot")
	}
	return strings.Split(r.URL, "/")[3]
}

func (s *sections) Priority(r *crawl.Request) int {
	p := r.Priority
	if _, err := fmt.Sscan(strings.Split(r.URL, "/")[4], &p); err != nil {
		panic(err)
	}
	return p
}

func (s *sections) Admit(r *crawl.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.SlotKey(r)
	if slot == "broken" {
		return errors.New("no budget file")
	}
	if s.used[slot]++; s.budget > 0 && s.used[slot] > s.budget {
		return crawl.Ignore("the budget of " + slot + " is used up")
	}
	return nil
}

func newSections(budget int) *sections {
	s := &sections{budget: budget, used: map[string]int{}}
	s.fetch = always
	return s
}

// SlotKey makes the slots and Priority the order in them.
func TestSlotsAndPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSections(0)
		var mu sync.Mutex
		var sent []string
		active := map[string]int{}
		emitted := make(chan struct{})
		s.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			slot := strings.Split(r.URL, "/")[3]
			mu.Lock()
			sent = append(sent, r.URL[len("http://a.test/"):])
			active[slot]++
			if active[slot] > 1 {
				t.Errorf("%d downloads in slot %s", active[slot], slot)
			}
			mu.Unlock()
			<-emitted
			mu.Lock()
			active[slot]--
			mu.Unlock()
			return answer(r, ""), nil
		}
		s.begin = func(_ context.Context, out crawl.Out) error {
			defer close(emitted)
			for _, path := range []string{"x/1", "y/1", "x/2", "x/9", "y/7", "x/5"} {
				out.Request(&crawl.Request{URL: "http://a.test/" + path})
			}
			return out.Err()
		}
		finish(t.Context(), t, probeOptions(t, &s.probe, s, "CONCURRENT_REQUESTS_PER_DOMAIN=1")).want(t, "finished", nil)
		for slot, want := range map[string]string{"x": "x/1 x/9 x/5 x/2", "y": "y/1 y/7"} {
			var got []string
			for _, path := range sent {
				if strings.HasPrefix(path, slot) {
					got = append(got, path)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("slot %s sent %q, want %s", slot, got, want)
			}
		}
	})
}

// Admit keeps a budget: a duplicate and a retry do not use it up, and what it
// refuses is no error, but an error of its own is.
func TestAdmit(t *testing.T) {
	s := newSections(3)
	tries := map[string]int{}
	s.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if tries[r.URL]++; strings.HasSuffix(r.URL, "/x/1") && tries[r.URL] < 3 {
			resp := answer(r, "")
			resp.Status = 503
			return resp, nil
		}
		return answer(r, ""), nil
	}
	s.begin = func(_ context.Context, out crawl.Out) error {
		for _, path := range []string{"x/1", "x/1", "x/1", "x/2", "x/3", "x/4", "x/5", "y/1"} {
			out.Request(&crawl.Request{URL: "http://a.test/" + path})
		}
		return out.Err()
	}
	s.connect = func(env *crawl.Env) { tell[crawl.RequestDropped](&s.probe, env) }
	end := finish(t.Context(), t, probeOptions(t, &s.probe, s, "CONCURRENT_REQUESTS=1"))
	if got := len(s.notes()); got != 4 {
		t.Errorf("%d requests are reported as dropped, want 2 duplicates and 2 that were not admitted", got)
	}
	end.want(t, "finished", map[string]int64{"response_received_count": 4, "retry/count": 2, "spider_exceptions/count": 0, "dupefilter/filtered": 2})
	if got := len(tries); got != 4 {
		t.Errorf("pages %v, want x/1 to x/3 and y/1", tries)
	}
}

// A policy that fails or panics is an error of the callback that emits: what was
// emitted before counts, and with an error what comes after too.
func TestPolicyFails(t *testing.T) {
	for _, c := range []struct {
		path  string
		after int
		stat  string
	}{{"broken/1", 1, "spider_exceptions/errorString"}, {"slotpanic/1", 0, "spider_exceptions/PanicError"}} {
		t.Run(c.path, func(t *testing.T) {
			s := newSections(0)
			s.begin = func(_ context.Context, out crawl.Out) error {
				out.Request(&crawl.Request{URL: "http://a.test/root/1"})
				return nil
			}
			s.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
				if !strings.Contains(r.URL, "root") {
					s.note("%s", r.URL[len("http://a.test/"):])
					return nil
				}
				out.Follow("/before/1", nil)
				out.Follow("/"+c.path, nil)
				out.Follow("/after/1", nil)
				return nil
			}
			finish(t.Context(), t, probeOptions(t, &s.probe, s)).want(t, "finished", map[string]int64{"spider_exceptions/count": 1, c.stat: 1})
			want := []string{"after/1", "before/1"}[1-c.after:]
			if got := s.notes(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
