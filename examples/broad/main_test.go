package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// host serves pages that each link to many others of it, and to another host.
func host(t *testing.T, other string) (url string, pages *atomic.Int32) {
	pages = &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		pages.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%s</title><a href=%q>other</a>`, r.URL.Path, other)
		for i := range 20 {
			fmt.Fprintf(w, `<a href="%s%d/">more</a><a href="%[1]s%[2]d/">again</a>`, r.URL.Path, i)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/", pages
}

func TestBudget(t *testing.T) {
	far, farPages := host(t, "/")
	near, nearPages := host(t, far)
	spec, err := crawl.FindSpec("broad")
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := settings.New().Spider(spec.Name, spec.Settings).Build()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pages.jsonl")
	target, err := feeds.ParseTarget(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Options{
		Spec: spec, Args: map[string]string{"seeds": near + ",/nowhere", "budget": "7"}, Settings: s,
		Feeds: []feeds.Target{target}, Log: zerolog.New(zerolog.NewTestWriter(t)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := e.Run(t.Context()); err != nil || res.Reason != "finished" {
		t.Fatalf("ended with %+v, %v", res, err)
	}
	if farPages.Load() != 7 || nearPages.Load() != 7 {
		t.Errorf("%d and %d pages, want 7 each", nearPages.Load(), farPages.Load())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n != 14 {
		t.Errorf("%d items, want 14", n)
	}
}
