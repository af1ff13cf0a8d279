package engine_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
)

// pagesOf reads the pages of a JSON or CSV feed, which must be well-formed and
// name none twice.
func pagesOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var items []struct{ URL string }
	if filepath.Ext(file) == ".json" {
		err = json.Unmarshal(b, &items)
	} else {
		var records [][]string
		records, err = csv.NewReader(strings.NewReader(string(b))).ReadAll()
		for i, record := range records {
			if isHead := record[0] == "url" && record[1] == "title"; isHead != (i == 0) {
				t.Errorf("record %d of %s is %q", i, file, record)
			}
			items = append(items, struct{ URL string }{record[0]})
		}
		items = items[min(1, len(items)):]
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, b)
	}
	got := map[string]bool{}
	for _, item := range items {
		if got[item.URL] {
			t.Errorf("%s holds %s twice", file, item.URL)
		}
		got[item.URL] = true
	}
	return got
}

// copyTree copies what is in dir, the job's journal before the feeds, as a
// process leaves them that dies meanwhile.
func copyTree(t *testing.T, from, to string) {
	if err := os.CopyFS(filepath.Join(to, "job"), os.DirFS(filepath.Join(from, "job"))); err != nil {
		t.Error(err)
	}
	if err := os.CopyFS(filepath.Join(to, "out"), os.DirFS(filepath.Join(from, "out"))); err != nil {
		t.Error(err)
	}
}

// Two feeds of one crawl, one of them named by the settings, that is stopped,
// resumed, killed and resumed again: both hold every page once, and are
// well-formed after every clean end.
func TestFeedsOfAStoppedAndKilledCrawl(t *testing.T) {
	const pages = 300
	var stop atomic.Pointer[func()]
	var hits atomic.Int32
	site := graph(t, pages)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := stop.Load(); f != nil && hits.Add(1) == 60 {
			(*f)()
		}
		site.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	dir, saved := t.TempDir(), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, "out", name) }
	o := options(t, linkSpec(srv.URL+"/p/0"), "JOBDIR="+filepath.Join(dir, "job"), "CONCURRENT_REQUESTS=4",
		`FEEDS={"`+filepath.ToSlash(file("%(name)s.csv"))+`": {"fields": ["url", "title"]}}`)
	o.Feeds = []feeds.Target{target(t, file("out.json"))}
	check := func(run string, least, most int) {
		t.Helper()
		inJSON, inCSV := pagesOf(t, file("out.json")), pagesOf(t, file("links.csv"))
		if len(inJSON) != len(inCSV) || len(inJSON) < least || len(inJSON) > most {
			t.Fatalf("%s: %d pages in JSON and %d in CSV, want %d to %d", run, len(inJSON), len(inCSV), least, most)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	stopNow := func() { cancel() }
	stop.Store(&stopNow)
	if res := run(ctx, t, o); res.Reason != "shutdown" {
		t.Fatalf("first run: %+v", res)
	}
	check("stopped", 1, pages-1)

	// The second run dies: what it has written until then is put back later.
	ctx, cancel = context.WithCancel(t.Context())
	die := func() {
		copyTree(t, dir, saved)
		cancel()
	}
	hits.Store(0)
	stop.Store(&die)
	if res := run(ctx, t, o); res.Reason != "shutdown" {
		t.Fatalf("second run: %+v", res)
	}
	stop.Store(nil)
	for _, part := range []string{"job", "out"} {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(saved, part), filepath.Join(dir, part)); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(file("out.json")); err != nil || json.Valid(b) {
		t.Errorf("the killed run left a whole array: %v", err)
	}
	if res := run(t.Context(), t, o); res.Reason != "finished" {
		t.Fatalf("third run: %+v", res)
	}
	check("finished", pages, pages)

	// A new round goes on inside the array and under the header. It fetches the
	// start page again, and no other.
	before, err := os.ReadFile(file("out.json"))
	if err != nil {
		t.Fatal(err)
	}
	run(t.Context(), t, o)
	after, err := os.ReadFile(file("out.json"))
	if err != nil || !strings.HasPrefix(string(after), strings.TrimSuffix(string(before), "\n]\n")+",\n") || !json.Valid(after) {
		t.Errorf("the next round does not go on in the array, %v:\n%s", err, after)
	}
}

// Wrong feeds in the settings stop the start, all of them at once.
func TestWrongFeedsStopTheStart(t *testing.T) {
	o := options(t, linkSpec("http://x.test/"), `FEEDS={"a.xml": {}, "b.json": {"indnt": 1}}`)
	_, err := engine.New(o)
	for _, want := range []string{`feed "a.xml"`, `feed "b.json": indnt`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	torn := filepath.Join(t.TempDir(), "torn.json")
	if err := os.WriteFile(torn, []byte("[{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	o = options(t, linkSpec("http://x.test/"), "JOBDIR="+filepath.Join(t.TempDir(), "job"))
	o.Feeds = []feeds.Target{target(t, torn)}
	_, err = mustNew(t, o).Run(t.Context())
	if wrong := new(engine.ConfigError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "does not hold a whole JSON array") {
		t.Errorf("a job and a feed that is none: %v", err)
	}
}

// stateSpider counts its pages.
type stateSpider struct {
	linkSpider
	state struct{ Pages int }
}

func (s *stateSpider) State() any { return &s.state }

func (s *stateSpider) Parse(ctx context.Context, r *crawl.Response, out crawl.Out) error {
	crawl.UpdateState(out, func(state *struct{ Pages int }) { state.Pages++ })
	for l := range r.Links() {
		out.Follow(l.URL, s.Parse)
	}
	return nil
}

// The readable copy of the state is there after a clean end.
func TestSpiderStateFile(t *testing.T) {
	srv := graph(t, 3)
	dir := t.TempDir()
	spec := crawl.Spec{Name: "stateful", New: func() crawl.Spider { return &stateSpider{linkSpider: linkSpider{srv.URL + "/p/0"}} }}
	run(t.Context(), t, options(t, spec, "JOBDIR="+dir))
	if b, err := os.ReadFile(filepath.Join(dir, "spider.state")); err != nil || strings.TrimSpace(string(b)) != `{
  "Pages": 3
}` {
		t.Errorf("spider.state holds %s, %v", b, err)
	}
}
