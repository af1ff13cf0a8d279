package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// members is a site whose pages are for those who have signed in. It holds the
// tenth of them until release is closed.
type members struct {
	*httptest.Server
	logins, refused, pages atomic.Int32
	reached, release       chan struct{}
	once                   sync.Once
}

func newMembers(t *testing.T) *members {
	t.Helper()
	m := &members{reached: make(chan struct{}), release: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *members) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/login" {
		m.logins.Add(1)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s1", Path: "/"})
		http.Redirect(w, r, "/0", http.StatusFound)
		return
	}
	if c, err := r.Cookie("session"); err != nil || c.Value != "s1" {
		m.refused.Add(1)
		http.Error(w, "who are you?", http.StatusForbidden)
		return
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if n == 10 {
		m.once.Do(func() { close(m.reached) })
		<-m.release
	}
	m.pages.Add(1)
	w.Header().Set("Content-Type", "text/html")
	if n < 30 {
		fmt.Fprintf(w, `<a href="/%d">next</a>`, n+1)
	}
}

// A login outlives the process: the cookies are part of the step that brought
// them.
func TestCookiesSurviveAKill(t *testing.T) {
	site := newMembers(t)
	s := &script{}
	s.start = func(_ *script, out crawl.Out) {
		out.Request(&crawl.Request{URL: site.URL + "/login", DontFilter: true})
	}
	s.parse = func(_ context.Context, s *script, r *crawl.Response, out crawl.Out) error {
		for l := range r.Links() {
			out.Follow(l.URL, s.Parse)
		}
		return nil
	}
	fs := faultfs.New()
	run := func(ctx context.Context, fs *faultfs.FS) (engine.Result, error) {
		o := options(t, crawl.Spec{Name: "script", New: func() crawl.Spider { return s }}, "JOBDIR=/job", "JOB_SYNC_INTERVAL=0")
		o.FS = fs
		return mustNew(t, o).Run(ctx)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, err := run(ctx, fs); first <- err }()
	<-site.reached
	killed := fs.Kill()
	cancel()
	close(site.release)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	site.pages.Store(0)
	if res, err := run(t.Context(), killed); err != nil || res.Reason != "finished" {
		t.Fatalf("the killed job: %+v, %v", res, err)
	}
	if site.logins.Load() != 1 || site.refused.Load() != 0 || site.pages.Load() != 21 {
		t.Errorf("%d logins, %d refusals, %d pages after the kill; want 1, 0 and 21", site.logins.Load(), site.refused.Load(), site.pages.Load())
	}
}
