package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// slowness is how long the slow page takes.
	slowness = 2 * time.Second
	// failures is how often the failing page fails before it answers once.
	failures = 2
	// patience is how long open requests may go on when the site closes.
	patience = 3 * time.Second
)

// A Site is the demonstration site as an [http.Handler]. Make one with [New].
// It is safe for concurrent use.
type Site struct {
	mux    *http.ServeMux
	layout *template.Template
	key    []byte // signs sessions
	asked  atomic.Int64
}

var _ http.Handler = (*Site)(nil)

// New returns a site. Sessions of another one are worth nothing on it.
func New() *Site {
	s := &Site{mux: http.NewServeMux(), layout: parseLayout(), key: []byte(rand.Text())}
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.serveQuotes(w, r, 1) })
	s.mux.HandleFunc("GET /page/{n}/{$}", s.servePage)
	s.mux.HandleFunc("GET /author/{name}/{$}", s.serveAuthor)
	s.mux.HandleFunc("GET /login", s.serveLogin)
	s.mux.HandleFunc("POST /login", s.login)
	s.mux.HandleFunc("GET /logout", s.logout)
	s.mux.HandleFunc("GET /account", s.serveAccount)
	s.mux.HandleFunc("GET /slow", s.serveSlow)
	s.mux.HandleFunc("GET /fail", s.serveFail)
	s.mux.HandleFunc("GET /private/", func(w http.ResponseWriter, r *http.Request) {
		s.write(w, r, page{Title: "Private", Message: "robots.txt asks crawlers to stay out of here."})
	})
	s.mux.HandleFunc("GET /robots.txt", serveRobots)
	s.mux.HandleFunc("GET /sitemap.xml", serveSitemap)
	return s
}

// ServeHTTP answers one request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Site) servePage(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 || n > Pages {
		http.NotFound(w, r)
		return
	}
	s.serveQuotes(w, r, n)
}

func (s *Site) serveSlow(w http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(slowness)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
		s.write(w, r, page{Title: "A slow page", Message: fmt.Sprintf("It took %v.", slowness)})
	}
}

// serveFail fails twice, answers, and begins again: what is tried three times
// gets there.
func (s *Site) serveFail(w http.ResponseWriter, r *http.Request) {
	if n := s.asked.Add(1) % (failures + 1); n != 0 {
		http.Error(w, fmt.Sprintf("failure %d of %d", n, failures), http.StatusServiceUnavailable)
		return
	}
	s.write(w, r, page{Title: "A page that fails", Message: "Asked often enough."})
}

// Serve answers on l until ctx is done. Requests that are open then may go on
// for three seconds. It closes l, and returns nil after a stop in good order.
func (s *Site) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the demonstration site: %w", err)
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		_ = srv.Close() // whoever is still there is cut off
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the demonstration site: %w", err)
	}
	return nil
}
