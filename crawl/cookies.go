package crawl

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"
)

// storedCookie is the stored form of a cookie that a request sets. Its texts are
// armored.
type storedCookie struct {
	Name        string   `json:"name"`
	Value       string   `json:"value"`
	Quoted      bool     `json:"quoted,omitempty"`
	Domain      string   `json:"domain,omitempty"`
	Path        string   `json:"path,omitempty"`
	Expires     *int64   `json:"expires,omitempty"` // Unix seconds
	RawExpires  string   `json:"raw_expires,omitempty"`
	MaxAge      int      `json:"max_age,omitempty"`
	Secure      bool     `json:"secure,omitempty"`
	HTTPOnly    bool     `json:"http_only,omitempty"`
	SameSite    int      `json:"same_site,omitempty"`
	Partitioned bool     `json:"partitioned,omitempty"`
	Raw         string   `json:"raw,omitempty"`
	Unparsed    []string `json:"unparsed,omitempty"`
}

// appendCookies appends the cookies that a request sets, if there are any.
func appendCookies(dst []byte, cookies []*http.Cookie) []byte {
	all := make([]storedCookie, 0, len(cookies))
	for _, c := range cookies {
		if c != nil {
			all = append(all, storedOf(c))
		}
	}
	if len(all) == 0 {
		return dst
	}
	b, _ := json.Marshal(all) // plain values: can not fail
	return append(append(dst, `,"cookies":`...), b...)
}

func storedOf(c *http.Cookie) storedCookie {
	s := storedCookie{
		Name: c.Name, Value: c.Value, Quoted: c.Quoted, Domain: c.Domain, Path: c.Path, RawExpires: c.RawExpires, MaxAge: c.MaxAge,
		Secure: c.Secure, HTTPOnly: c.HttpOnly, SameSite: int(c.SameSite), Partitioned: c.Partitioned, Raw: c.Raw, Unparsed: slices.Clone(c.Unparsed),
	}
	if !c.Expires.IsZero() {
		s.Expires = new(c.Expires.Unix())
	}
	for text := range s.texts() {
		*text = armored(*text)
	}
	return s
}

// texts yields the texts of a cookie.
func (s *storedCookie) texts() iter.Seq[*string] {
	return func(yield func(*string) bool) {
		for _, text := range []*string{&s.Name, &s.Value, &s.Domain, &s.Path, &s.RawExpires, &s.Raw} {
			if !yield(text) {
				return
			}
		}
		for i := range s.Unparsed {
			if !yield(&s.Unparsed[i]) {
				return
			}
		}
	}
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
	if err := unarmor(s.texts()); err != nil {
		return nil, err
	}
	c := &http.Cookie{
		Name: s.Name, Value: s.Value, Quoted: s.Quoted, Domain: s.Domain, Path: s.Path, RawExpires: s.RawExpires, MaxAge: s.MaxAge,
		Secure: s.Secure, HttpOnly: s.HTTPOnly, SameSite: http.SameSite(s.SameSite), Partitioned: s.Partitioned, Raw: s.Raw, Unparsed: s.Unparsed,
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
