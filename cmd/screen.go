package cmd

import (
	"io"
	"sync"
)

// Escape sequences of terminals. The line is cut at the right edge, not wrapped:
// what is wrapped could not be erased.
const (
	eraseLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrap      = "\x1b[?7h"
)

// A screen is a terminal whose last line shows how a crawl goes on. What is
// written to it in the ordinary way, through [screen.over], goes above that
// line. It is safe for concurrent use. An error of the terminal is not reported:
// there is nowhere left to report it.
type screen struct {
	w io.Writer

	mu     sync.Mutex
	status string
	shown  bool // the status is the last line of the terminal
	open   bool // the last line is one that somebody has begun
}

// show makes text the last line; "" takes the line away.
func (s *screen) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = text
	s.erase()
	s.draw()
}

func (s *screen) erase() {
	if s.shown {
		_, _ = io.WriteString(s.w, eraseLine)
		s.shown = false
	}
}

// draw leaves the cursor at the beginning of the line.
func (s *screen) draw() {
	if s.status != "" && !s.open {
		_, _ = io.WriteString(s.w, noWrap+s.status+wrap+"\r")
		s.shown = true
	}
}

// over returns a stream that writes to w, which is the same terminal, above the
// status line.
func (s *screen) over(w io.Writer) io.Writer { return above{s, w} }

type above struct {
	s *screen
	w io.Writer
}

// Write returns what the stream returned.
func (a above) Write(b []byte) (int, error) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.s.erase()
	n, err := a.w.Write(b)
	if len(b) > 0 {
		a.s.open = b[len(b)-1] != '\n'
	}
	a.s.draw()
	return n, err
}
