package httpcache

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEnv returns an Env with a cache in a folder of the test, and its log.
func newEnv(t testing.TB, values map[string]any) (*crawl.Env, *strings.Builder) {
	t.Helper()
	all := map[string]any{"HTTPCACHE_ENABLED": true, "HTTPCACHE_DIR": t.TempDir()}
	maps.Copy(all, values)
	s, _, err := settings.New().Spider("test", all).Build()
	if err != nil {
		t.Fatalf("settings: %v", err)
	}
	log := &strings.Builder{}
	return &crawl.Env{
		Settings: s, Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Log: zerolog.New(log),
		Spec: crawl.Spec{Name: "test"}, Fingerprint: fingerprint,
	}, log
}

func fingerprint(r *crawl.Request) ([20]byte, error) {
	return sha1.Sum(fmt.Appendf(nil, "%s %s %s", r.Verb(), r.URL, r.Body)), nil
}

// An origin is a server whose answers a test sets. It notes what it was asked.
type origin struct {
	cache  crawl.Fetcher // in front of it
	env    *crawl.Env
	log    *strings.Builder
	answer func(r *crawl.Request) (*crawl.Response, error)
	asked  []*crawl.Request
}

func newOrigin(t testing.TB, values map[string]any) *origin {
	t.Helper()
	o := &origin{}
	o.env, o.log = newEnv(t, values)
	m, err := newCache(o.env)
	if err != nil {
		t.Fatal(err)
	}
	o.cache = m(crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		o.asked = append(o.asked, r)
		return o.answer(r)
	}))
	return o
}

// says sets what the origin answers from now on. The header is pairs of name and
// value.
func (o *origin) says(status int, body string, pairs ...string) {
	o.answer = func(r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{Request: r, URL: r.URL, Status: status, Header: header(pairs...), Body: []byte(body)}, nil
	}
}

func (o *origin) fails(err error) {
	o.answer = func(*crawl.Request) (*crawl.Response, error) { return nil, err }
}

const page = "http://cache.test/page"

// get fetches the page, and fails the test if that does.
func (o *origin) get(t testing.TB, pairs ...string) *crawl.Response {
	t.Helper()
	return o.fetch(t, &crawl.Request{URL: page, Header: header(pairs...)})
}

func (o *origin) fetch(t testing.TB, r *crawl.Request) *crawl.Response {
	t.Helper()
	resp, err := o.cache.Fetch(t.Context(), r)
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	if resp.Request != r {
		t.Errorf("%v: the response is to %v, want the request itself", r, resp.Request)
	}
	return resp
}

func (o *origin) wantStats(t testing.TB, want map[string]int64) {
	t.Helper()
	for key, n := range want {
		if got := o.env.Stats.Count("httpcache/" + key); got != n {
			t.Errorf("httpcache/%s = %d, want %d", key, got, n)
		}
	}
}

// wantBody checks a response, and whether it has the flag of the cache.
func wantBody(t testing.TB, resp *crawl.Response, body string, cached bool) {
	t.Helper()
	if got := isCached(resp); string(resp.Body) != body || got != cached {
		t.Errorf("response %v: %q, cached %v, want %q, cached %v", resp, resp.Body, got, body, cached)
	}
}

func isCached(resp *crawl.Response) bool {
	return len(resp.Flags) > 0 && resp.Flags[len(resp.Flags)-1] == FlagCached
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// ago returns an HTTP date some seconds before now; negative is to come.
func ago(seconds int) string {
	return time.Now().Add(-time.Duration(seconds) * time.Second).UTC().Format(http.TimeFormat)
}

var errLost = &crawl.DownloadError{Kind: crawl.FailConnection, Name: "DownloadFailedError", Err: fmt.Errorf("the connection broke")}

func wantLog(t testing.TB, o *origin, text string) {
	t.Helper()
	if got := strings.Count(o.log.String(), text); got != 1 {
		t.Errorf("log has %q %d times, want once:\n%s", text, got, o.log)
	}
}

func hexKey(fp [20]byte) string { return hex.EncodeToString(fp[:]) }
