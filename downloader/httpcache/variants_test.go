package httpcache

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// A page for one user, by Vary or by Authorization, is not given to another; each has a place of its own.
func TestVariants(t *testing.T) {
	for _, c := range []struct {
		control, vary string
		field         string
		apart         bool
	}{
		{"max-age=600", "Cookie", "Cookie", true},
		{"max-age=600", "accept-language, Cookie", "Accept-Language", true},
		{"max-age=600", "Cookie", "Accept-Language", false},
		{"max-age=600", "", "Authorization", true},
		{"max-age=600, public", "", "Authorization", false},
		{"max-age=600, public", "Authorization", "Authorization", true},
	} {
		inBubble(t, nil, func(t *testing.T, o *origin) {
			for _, user := range []string{"alice", "bob"} {
				o.says(200, "page of "+user, "Cache-Control", c.control, "Vary", c.vary)
				o.get(t, c.field, user)
			}
			o.fails(errLost)
			want := map[string]string{"alice": "page of alice", "bob": "page of bob"}
			if !c.apart {
				want["bob"] = "page of alice"
			}
			for user, body := range want {
				wantBody(t, o.get(t, c.field, user), body, true)
			}
			for _, file := range o.files(t) {
				wantNoSecret(t, file, "alice", "page of alice")
			}
		})
	}
}

// A variant is replaced by the next response to the same request, and there is a limit to their number.
func TestVariantsAreReplaced(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, o *origin) {
		for i := range 3 * maxVariants {
			o.says(200, "page", "Cache-Control", "max-age=600", "Vary", "X")
			o.get(t, "X", time.Duration(i%(maxVariants+4)).String())
		}
		all := o.env.Stats.Count("httpcache/store")
		key, err := fingerprint(&crawl.Request{URL: page})
		if err != nil {
			t.Fatal(err)
		}
		storage, err := newFilesystem(o.env)
		if err != nil {
			t.Fatal(err)
		}
		record, err := storage.Load(t.Context(), hexKey(key))
		if err != nil {
			t.Fatal(err)
		}
		if stored, err := decode(record, io.ReadAll); err != nil || len(stored) != maxVariants || all < maxVariants {
			t.Errorf("%d variants, %v, of %d responses, want %d", len(stored), err, all, maxVariants)
		}
	})
}

func init() {
	Storages.Register("slow", func(*crawl.Env) (Storage, error) { return &slowStorage{}, nil })
}

// A slowStorage has one record, and takes its time.
type slowStorage struct{ record []byte }

func (s *slowStorage) Load(context.Context, string) ([]byte, error) {
	record := bytes.Clone(s.record)
	<-time.After(time.Second)
	return record, nil
}

func (s *slowStorage) Save(_ context.Context, _ string, record []byte) error {
	<-time.After(time.Second)
	s.record = bytes.Clone(record)
	return nil
}

func (s *slowStorage) Remove(context.Context, string) error { return nil }

// Variants of one page that come at the same time are all kept.
func TestVariantsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, _ := newEnv(t, map[string]any{"HTTPCACHE_POLICY": "rfc9111", "HTTPCACHE_STORAGE": "slow"})
		m, err := newCache(env)
		if err != nil {
			t.Fatal(err)
		}
		cache := m(crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
			<-time.After(time.Minute)
			h := header("Cache-Control", "max-age=600", "Vary", "X-V")
			return &crawl.Response{Request: r, URL: r.URL, Status: 200, Header: h, Body: []byte(r.Header.Get("X-V"))}, nil
		}))
		for round := range 2 {
			var requests sync.WaitGroup
			for _, v := range []string{"a", "b", "c", "d", "e", "f"} {
				requests.Go(func() {
					resp, err := cache.Fetch(t.Context(), &crawl.Request{URL: page, Header: header("X-V", v)})
					if err != nil {
						t.Error(err)
						return
					}
					wantBody(t, resp, v, round == 1)
				})
			}
			requests.Wait()
		}
		if got := env.Stats.Count("httpcache/hit"); got != 6 {
			t.Errorf("httpcache/hit = %d, want 6", got)
		}
	})
}

// A crawl that ends waits for nobody's storage.
func TestSavingGivesUp(t *testing.T) {
	l := &locks{held: map[string]chan struct{}{}}
	if err := l.lock(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errLost)
	if err := l.lock(ctx, "key"); !errors.Is(err, errLost) {
		t.Errorf("error %v, want why the crawl ended", err)
	}
	l.unlock("key")
	if err := l.lock(ctx, "key"); err != nil {
		t.Errorf("error %v, want a key that is free", err)
	}
}

// A request that changes something makes void what is stored of its URL, and what its response names on the same host.
func TestInvalidation(t *testing.T) {
	const base = "http://cache.test"
	for _, c := range []struct {
		method string
		status int
		header []string
		void   []string
	}{
		{"POST", 200, nil, []string{"/page"}},
		{"M-SEARCH", 204, nil, []string{"/page"}},
		{"DELETE", 302, []string{"Location", "/a"}, []string{"/page", "/a"}},
		{"PUT", 201, []string{"Location", "a#top", "Content-Location", base + "/b"}, []string{"/page", "/a", "/b"}},
		{"PUT", 201, []string{"Location", "http://other.test/a"}, []string{"/page"}},
		{"POST", 500, []string{"Location", "/a"}, nil},
		{"POST", 404, nil, nil},
		{"OPTIONS", 200, nil, nil},
	} {
		inBubble(t, nil, func(t *testing.T, o *origin) {
			all := []string{base + "/page", base + "/a", base + "/b", "http://other.test/a"}
			o.says(200, "page", "Cache-Control", "max-age=600")
			for _, u := range all {
				o.fetch(t, &crawl.Request{URL: u})
				o.fetch(t, &crawl.Request{URL: u, Method: http.MethodHead})
			}
			o.says(c.status, "done", c.header...)
			o.fetch(t, &crawl.Request{URL: page, Method: c.method, Options: crawl.Options{NoCache: true}})
			void := map[string]bool{}
			for _, path := range c.void {
				void[base+path] = true
			}
			o.says(200, "new")
			for _, u := range all {
				for _, method := range []string{"", http.MethodHead} {
					if got := !isCached(o.fetch(t, &crawl.Request{URL: u, Method: method})); got != void[u] {
						t.Errorf("%s with %d %v: %s %s void %v, want %v", c.method, c.status, c.header, method, u, got, void[u])
					}
				}
			}
		})
	}
}

// The answer to a condition of the crawl's own is neither taken from the cache nor stored.
func TestOwnCondition(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, o *origin) {
		o.says(200, "first", "Cache-Control", "max-age=600", "Etag", `"one"`)
		o.get(t)
		o.says(304, "")
		if resp := o.get(t, "If-None-Match", `"mine"`); resp.Status != 304 {
			t.Errorf("status %d, want the 304 that was asked for", resp.Status)
		}
		wantBody(t, o.get(t), "first", true)
	})
}
