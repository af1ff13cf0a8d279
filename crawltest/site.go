package crawltest

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config says how large and how fast a [Site] is. Zero values mean the
// defaults.
type Config struct {
	Pages   int           // number of pages; defaults to 100
	Links   int           // links a page; defaults to 10
	Size    int           // least size of a page in bytes; defaults to what its content takes
	Latency time.Duration // wait before each page; defaults to none
	Robots  string        // content of /robots.txt; defaults to none, which is a 404
}

// A Site is a web site for tests. It serves pages under /p/0, /p/1 and so on,
// all of which can be reached from /p/0: half of a page's links lead to its
// children in a tree, the others to pseudo-random pages, the same in every run.
// Next to them it misbehaves on demand:
//
//	/status/CODE           answers with that status; with ?first=N only the first N times, then with a page
//	/redirect/N            redirects N times and then to /p/0; ?code= and ?to= choose status and end
//	/redirect/loop         redirects to itself
//	/slow?wait=DURATION    waits before it answers; 1s by default
//	/stall                 sends half of a page and then nothing more
//	/reset                 resets the connection
//	/short                 sends fewer bytes than it announces and closes
//	/endless               sends a page that does not end
//	/gzip                  sends a page with Content-Encoding gzip
//
// A Site is an [http.Handler] for [net/http/httptest.NewServer]. It is safe for
// concurrent use.
type Site struct {
	cfg  Config
	mux  *http.ServeMux
	hits []atomic.Int64 // of the pages

	mu    sync.Mutex
	other map[string]int // hits of everything else
}

// NewSite returns a site.
func NewSite(cfg Config) *Site {
	if cfg.Pages <= 0 {
		cfg.Pages = 100
	}
	if cfg.Links <= 0 {
		cfg.Links = 10
	}
	s := &Site{cfg: cfg, mux: http.NewServeMux(), hits: make([]atomic.Int64, cfg.Pages), other: map[string]int{}}
	s.routes()
	return s
}

func (s *Site) routes() {
	s.mux.HandleFunc("/p/{page}", s.servePage)
	s.mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/p/0", http.StatusFound) })
	s.mux.HandleFunc("/robots.txt", s.serveRobots)
	s.mux.HandleFunc("/status/{code}", s.serveStatus)
	s.mux.HandleFunc("/redirect/{left}", s.serveRedirect)
	s.mux.HandleFunc("/slow", s.serveSlow)
	s.mux.HandleFunc("/stall", s.serveStall)
	s.mux.HandleFunc("/reset", s.serveReset)
	s.mux.HandleFunc("/short", s.serveShort)
	s.mux.HandleFunc("/endless", s.serveEndless)
	s.mux.HandleFunc("/gzip", s.serveGzip)
}

// ServeHTTP counts the request and answers it.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if i, ok := s.pageIndex(r.URL.Path); ok && r.URL.RawQuery == "" {
		s.hits[i].Add(1)
	} else {
		s.note(r.URL.RequestURI())
	}
	s.mux.ServeHTTP(w, r)
}

// note counts a request of something that is no page.
func (s *Site) note(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other[path]++
}

// noted returns how often something that is no page was requested.
func (s *Site) noted(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.other[path]
}

// Hits returns how often each path, with its query, was requested since the
// start or the last Reset. Paths that were not requested are left out.
func (s *Site) Hits() map[string]int {
	s.mu.Lock()
	m := maps.Clone(s.other)
	s.mu.Unlock()
	for i := range s.hits {
		if n := s.hits[i].Load(); n > 0 {
			m[pagePath(i)] = int(n)
		}
	}
	return m
}

// Reset sets all hits to zero.
func (s *Site) Reset() {
	s.mu.Lock()
	clear(s.other)
	s.mu.Unlock()
	for i := range s.hits {
		s.hits[i].Store(0)
	}
}

// Pages yields what is on every page, in the order of their numbers.
func (s *Site) Pages() iter.Seq[Page] {
	return func(yield func(Page) bool) {
		for i := range s.cfg.Pages {
			if !yield(s.Page(i)) {
				return
			}
		}
	}
}

// Serve answers connections of l until it is closed, and closes those that are
// open then. It returns nil for a closed listener. It makes a process of its own
// of a site.
func (s *Site) Serve(l net.Listener) error {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	err := srv.Serve(l)
	closeErr := srv.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if errors.Is(closeErr, net.ErrClosed) {
		closeErr = nil
	}
	if err = errors.Join(err, closeErr); err != nil {
		return fmt.Errorf("serve test site on %s: %w", l.Addr(), err)
	}
	return nil
}

func (s *Site) pageIndex(path string) (int, bool) {
	text, ok := strings.CutPrefix(path, "/p/")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(text)
	return i, err == nil && i >= 0 && i < s.cfg.Pages && pagePath(i) == path
}
