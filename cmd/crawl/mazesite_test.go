package main

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// mazeSite is the server of all hosts of a [maze].
type mazeSite struct {
	port int

	mu    sync.Mutex
	paths map[string]int // how often each was requested
	total int
	watch map[int]chan struct{} // total -> closed when it is reached
}

func newMazeSite(t *testing.T) *mazeSite {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mazeSite{port: l.Addr().(*net.TCPAddr).Port, paths: map[string]int{}, watch: map[int]chan struct{}{}}
	srv := httptest.NewUnstartedServer(s)
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	return s
}

// after returns a channel that is closed when n further requests have come.
func (s *mazeSite) after(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{})
	s.watch[s.total+n] = c
	return c
}

func (s *mazeSite) hits() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.paths)
}

func (s *mazeSite) hit(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	if c := s.watch[s.total]; c != nil {
		close(c)
		delete(s.watch, s.total)
	}
	s.paths[path]++
	return s.paths[path]
}

// ServeHTTP answers by the kind of the page, the first part of its path.
func (s *mazeSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.hit(r.URL.Path)
	page, door, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	cookie := "door" + door
	switch page {
	case "hop", "skip", "jump":
		s.redirect(w, r, page, door)
		return
	case "reset":
		panic(http.ErrAbortHandler)
	case "login":
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: "open", Path: "/"})
	case "private":
		if c, err := r.Cookie(cookie); err != nil || c.Value != "open" {
			http.Error(w, "no cookie", http.StatusForbidden)
			return
		}
	}
	switch {
	case page == "dead" || page == "flaky" && n <= 2:
		w.WriteHeader(http.StatusServiceUnavailable)
	case page == "gone":
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = fmt.Fprintf(w, "<p>%s</p>", door) // a client that was killed is gone
}

// redirect sends to the next of three hops, each on the next host, and in the end
// to where they land.
func (s *mazeSite) redirect(w http.ResponseWriter, r *http.Request, page, door string) {
	next := map[string]string{"hop": "skip", "skip": "jump", "jump": "landed"}[page]
	code := map[string]int{"hop": http.StatusFound, "skip": http.StatusMovedPermanently, "jump": http.StatusTemporaryRedirect}[page]
	i, err := strconv.Atoi(door)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	m := maze{Port: s.port}
	away := map[string]int{"skip": 1, "jump": 2, "landed": 3}[next]
	http.Redirect(w, r, m.url(next, i, away), code)
}
