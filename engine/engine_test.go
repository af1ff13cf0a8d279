package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	_ "github.com/skeincrawl/skein/downloader/middleware"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// graph serves n pages, page i linking to 2i+1 and 2i+2.
func graph(t *testing.T, n int) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/p/%d", &i); err != nil || i >= n {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<html><h1>Page %d</h1>", i)
		for _, c := range []int{2*i + 1, 2*i + 2, i / 2} {
			if c < n {
				fmt.Fprintf(w, "<a href=/p/%d>x</a>", c)
			}
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// options returns what runs a spider with settings "K=V".
func options(t *testing.T, spec crawl.Spec, assign ...string) engine.Options {
	t.Helper()
	b := settings.New()
	for _, a := range assign {
		b = b.Assign(a)
	}
	s, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return engine.Options{Spec: spec, Settings: s, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.InfoLevel)}
}

func run(ctx context.Context, t *testing.T, o engine.Options) engine.Result {
	t.Helper()
	e, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

type linkSpider struct{ url string }

func (s *linkSpider) Start(_ context.Context, out crawl.Out) error {
	out.Request(&crawl.Request{URL: s.url, DontFilter: true})
	return nil
}

func (s *linkSpider) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	out.Item(crawl.Record{{Name: "url", Value: r.URL}, {Name: "title", Value: r.CSS("h1::text").Get()}})
	for l := range r.Links() {
		out.Follow(l.URL, s.Parse)
	}
	return nil
}

func linkSpec(url string) crawl.Spec {
	return crawl.Spec{Name: "links", New: func() crawl.Spider { return &linkSpider{url} }}
}

// items reads a feed and fails for a line that is torn or there twice.
func items(t *testing.T, file string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		var v struct{ URL string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if got[v.URL] {
			t.Errorf("%s is there twice", v.URL)
		}
		got[v.URL] = true
	}
	return got
}

func target(t *testing.T, name string) feeds.Target {
	t.Helper()
	f, err := feeds.ParseTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCrawl(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprintf("jobdir=%v", durable), func(t *testing.T) {
			srv := graph(t, 300)
			dir := t.TempDir()
			o := options(t, linkSpec(srv.URL+"/p/0"))
			if durable {
				o = options(t, linkSpec(srv.URL+"/p/0"), "JOBDIR="+filepath.Join(dir, "job"))
			}
			o.Feeds = []feeds.Target{target(t, filepath.Join(dir, "out.jsonl"))}
			if res := run(t.Context(), t, o); res.Reason != "finished" || res.NoResponse {
				t.Errorf("result %+v", res)
			}
			if got := items(t, filepath.Join(dir, "out.jsonl")); len(got) != 300 {
				t.Errorf("%d items, want 300", len(got))
			}
		})
	}
}

func mustNew(t *testing.T, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
