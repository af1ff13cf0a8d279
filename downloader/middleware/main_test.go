package middleware

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEnv returns an Env with some settings, and its log.
func newEnv(t testing.TB, values map[string]any) (*crawl.Env, *strings.Builder) {
	t.Helper()
	s, _, err := settings.New().Spider("test", values).Build()
	if err != nil {
		t.Fatalf("settings: %v", err)
	}
	log := &strings.Builder{}
	return &crawl.Env{Settings: s, Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Log: zerolog.New(log)}, log
}

// wrap puts a registered middleware around next. It returns next if the
// middleware is off.
func wrap(t testing.TB, name string, env *crawl.Env, next crawl.Fetcher) crawl.Fetcher {
	t.Helper()
	build, err := downloader.Middlewares.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := build(env)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if m == nil {
		return next
	}
	return m(next)
}

// respond is a handler that answers every request alike.
func respond(resp *crawl.Response) crawl.Fetcher {
	return crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{
			Request: r, URL: r.URL, Status: resp.Status, Header: resp.Header.Clone(),
			Body: resp.Body, Flags: resp.Flags,
		}, nil
	})
}

func failWith(err error) crawl.Fetcher {
	return crawl.FetcherFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return nil, err })
}

// rescheduled returns the request that a fetch answered with, or nil.
func rescheduled(err error) *crawl.Request {
	if again, ok := errors.AsType[*crawl.RescheduleError](err); ok {
		return again.Request
	}
	return nil
}

func wantStats(t testing.TB, env *crawl.Env, want map[string]int64) {
	t.Helper()
	for key, n := range want {
		if got := env.Stats.Count(key); got != n {
			t.Errorf("%s = %d, want %d", key, got, n)
		}
	}
}

func wantLog(t testing.TB, log *strings.Builder, text string, times int) {
	t.Helper()
	if got := strings.Count(log.String(), text); got != times {
		t.Errorf("log has %q %d times, want %d:\n%s", text, got, times, log)
	}
}

// The settings name the middlewares that are built in.
func TestRegistered(t *testing.T) {
	env, _ := newEnv(t, nil)
	for _, c := range env.Settings.Components("DOWNLOADER_MIDDLEWARES") {
		if _, err := downloader.Middlewares.Lookup(c.Name); err != nil {
			t.Error(err)
		}
	}
}

// header makes a header of pairs of name and value.
func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}
