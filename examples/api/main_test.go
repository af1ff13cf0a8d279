package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestProducts reads four pages: the second is down the first two times, the
// third is cut short the first time, and the fourth is always down.
func TestProducts(t *testing.T) {
	var tries [5]atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscan(r.FormValue("page"), &n); err != nil || n > 4 {
			t.Errorf("asked for page %q", r.FormValue("page"))
			return
		}
		try := tries[n].Add(1)
		switch {
		case n == 4 || n == 2 && try <= 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n == 3 && try == 1:
			fmt.Fprint(w, `{"products": [{"na`)
		default:
			fmt.Fprintf(w, `{"products": [{"name": "a%d"}, {"name": "b%d"}], "pages": 4}`, n, n)
		}
	}))
	t.Cleanup(srv.Close)

	got := names(t, crawlAPI(t, srv.URL))
	if want := []string{"a1", "a2", "a3", "b1", "b2", "b3", "page 4 lost"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := tries[4].Load(); n != 4 {
		t.Errorf("the page that is down was tried %d times, want 4", n)
	}
}

// crawlAPI runs the spider and returns what it wrote.
func crawlAPI(t *testing.T, base string) string {
	t.Helper()
	spec, err := crawl.FindSpec("api")
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := settings.New().Build()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "products.jsonl")
	target, err := feeds.ParseTarget(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Options{
		Spec: spec, Args: map[string]string{"base": base}, Settings: s, Feeds: []feeds.Target{target}, Log: zerolog.New(zerolog.NewTestWriter(t)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := e.Run(t.Context()); err != nil || res.Reason != "finished" {
		t.Fatalf("ended with %+v, %v", res, err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names returns the names in a feed, sorted.
func names(t *testing.T, feed string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(feed) {
		var item struct {
			Name string
			Lost int `json:"lost_page"`
		}
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatal(err)
		}
		if item.Lost > 0 {
			item.Name = fmt.Sprintf("page %d lost", item.Lost)
		}
		all = append(all, item.Name)
	}
	slices.Sort(all)
	return all
}
