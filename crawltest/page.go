package crawltest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// A Page is what a page of a [Site] holds. The selectors h1.name, span.price
// and p.desc find the fields, and a[href] the links.
type Page struct {
	Path  string
	Title string
	Price string
	Desc  string
	Links []string // paths, in the order of the page, with repetitions
}

// Page returns the content of page i, from 0.
func (s *Site) Page(i int) Page {
	return Page{
		Path:  pagePath(i),
		Title: fmt.Sprintf("Item number %d", i),
		Price: fmt.Sprintf("$%d.%02d", i%997, i%100),
		Desc:  fmt.Sprintf("Description of item %d & friends", i),
		Links: s.links(i),
	}
}

func pagePath(i int) string { return "/p/" + strconv.Itoa(i) }

func (s *Site) links(i int) []string {
	links := make([]string, s.cfg.Links)
	for k := range links {
		links[k] = pagePath(s.target(i, k))
	}
	return links
}

// target returns the page to which link k of page i leads. The first half are
// the children of a tree.
func (s *Site) target(i, k int) int {
	half := (s.cfg.Links + 1) / 2
	if k < half {
		return (i*half + k + 1) % s.cfg.Pages
	}
	return int(mix(uint64(i)*1000003+uint64(k)) % uint64(s.cfg.Pages))
}

// mix scatters the bits of x (the finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

const filler = "<div class=\"row\"><p>Plain words fill <em>this row</em> until the page is as long as it should be &mdash; <b>nothing</b> else.</p></div>\n"

// Render returns the HTML of page i, from 0. It is cheap enough for a benchmark
// of a client on the same machine.
func (s *Site) Render(i int) []byte {
	b := make([]byte, 0, max(s.cfg.Size, 0)+1024+64*s.cfg.Links)
	b = fmt.Appendf(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Item number %d</title></head>\n<body>\n", i)
	b = fmt.Appendf(b, "<div class=\"product\" id=\"item-%d\"><h1 class=\"name\">Item number %d</h1><span class=\"price\">$%d.%02d</span><p class=\"desc\">Description of item %d &amp; friends</p></div>\n", i, i, i%997, i%100, i)
	b = append(b, "<ul class=\"links\">\n"...)
	for k := range s.cfg.Links {
		t := int64(s.target(i, k))
		b = strconv.AppendInt(append(b, `<li><a href="/p/`...), t, 10)
		b = strconv.AppendInt(append(b, `">Page `...), t, 10)
		b = append(b, "</a></li>\n"...)
	}
	b = append(b, "</ul>\n<section>\n"...)
	const tail = "</section></body></html>\n"
	for len(b) < s.cfg.Size-len(tail) {
		b = append(b, filler...)
	}
	return append(b, tail...)
}

func (s *Site) servePage(w http.ResponseWriter, r *http.Request) {
	i, ok := s.pageIndex(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if !wait(r, s.cfg.Latency) {
		return
	}
	writePage(w, http.StatusOK, s.Render(i))
}

func writePage(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away is its own business
}

// wait reports false if the client went away first.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-timer.C:
		return true
	}
}
