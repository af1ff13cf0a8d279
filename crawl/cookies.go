package crawl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// storedCookie is the stored form of a cookie that a request sets.
type storedCookie struct {
	Name     string   `json:"name"`
	Value    string   `json:"value"`
	Domain   string   `json:"domain,omitempty"`
	Path     string   `json:"path,omitempty"`
	Expires  *int64   `json:"expires,omitempty"` // Unix seconds
	MaxAge   int      `json:"max_age,omitempty"`
	Secure   bool     `json:"secure,omitempty"`
	HTTPOnly bool     `json:"http_only,omitempty"`
	Unparsed []string `json:"unparsed,omitempty"`
}

// appendCookies appends the cookies that a request sets, if there are any.
func appendCookies(dst []byte, cookies []*http.Cookie) []byte {
	all := make([]storedCookie, 0, len(cookies))
	for _, c := range cookies {
		if c == nil {
			continue
		}
		s := storedCookie{
			Name: armored(c.Name), Value: armored(c.Value), Domain: c.Domain, Path: armored(c.Path), MaxAge: c.MaxAge,
			Secure: c.Secure, HTTPOnly: c.HttpOnly, Unparsed: c.Unparsed,
		}
		if !c.Expires.IsZero() {
			s.Expires = new(c.Expires.Unix())
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return dst
	}
	b, _ := json.Marshal(all) // plain values: can not fail
	return append(append(dst, `,"cookies":`...), b...)
}

func loadCookies(all []storedCookie) ([]*http.Cookie, error) {
	if len(all) == 0 {
		return nil, nil
	}
	cookies := make([]*http.Cookie, len(all))
	for i := range all {
		c, err := all[i].load()
		if err != nil {
			return nil, fmt.Errorf("cookie: %w", err)
		}
		cookies[i] = c
	}
	return cookies, nil
}

func (s *storedCookie) load() (*http.Cookie, error) {
	c := &http.Cookie{Domain: s.Domain, MaxAge: s.MaxAge, Secure: s.Secure, HttpOnly: s.HTTPOnly, Unparsed: s.Unparsed}
	for _, f := range []struct {
		to   *string
		from string
	}{{&c.Name, s.Name}, {&c.Value, s.Value}, {&c.Path, s.Path}} {
		v, err := unarmored(f.from)
		if err != nil {
			return nil, err
		}
		*f.to = v
	}
	if s.Expires != nil {
		c.Expires = time.Unix(*s.Expires, 0)
	}
	return c, nil
}

func cloneCookies(cookies []*http.Cookie) []*http.Cookie {
	all := slices.Clone(cookies)
	for i, c := range all {
		if c != nil {
			own := *c
			own.Unparsed = slices.Clone(c.Unparsed)
			all[i] = &own
		}
	}
	return all
}
