package httpcache

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// FlagCached marks a response that came from the cache, with or without a
// question to its server.
const FlagCached = "cached"

// Stored is a response in the cache.
type Stored struct {
	URL    string
	Status int
	Header http.Header // without what concerned the connection, and always with a Date
	Body   []byte      // in its Content-Encoding
	Flags  []string
	Proto  string

	Requested time.Time // when the request was sent that it, or its last confirmation, answers
	Received  time.Time // when that came

	varied map[string]string // digests of the request's fields that may matter, by name
}

// newStored returns what is to be kept of a response that came just now.
func newStored(r *crawl.Request, resp *crawl.Response, requested time.Time) *Stored {
	s := &Stored{
		URL: resp.URL, Status: resp.Status, Header: kept(resp.Header), Body: resp.Body, Flags: resp.Flags, Proto: resp.Proto,
		Requested: requested, Received: time.Now(), varied: map[string]string{},
	}
	for _, name := range append(list(resp.Header["Vary"]), "Authorization") {
		s.varied[http.CanonicalHeaderKey(name)] = digest(r, name)
	}
	return s
}

// Varies reports whether a request has other values in a field than the request
// of s had. That is known of Authorization and of the fields that the Vary header
// of s names; others count as different.
func (s *Stored) Varies(r *crawl.Request, name string) bool {
	had, known := s.varied[http.CanonicalHeaderKey(name)]
	return !known || had != digest(r, name)
}

// digest returns what is kept of the values of a request's field, which may be
// secret. It does not depend on lines and on white space between the members of
// a list (RFC 9111 §4.1). A field that is not there has none.
func digest(r *crawl.Request, name string) string {
	lines := values(r.Header, name)
	if len(lines) == 0 {
		return ""
	}
	members := strings.Split(strings.Join(lines, ","), ",")
	for i, m := range members {
		members[i] = strings.TrimSpace(m)
	}
	sum := sha256.Sum256([]byte(strings.Join(members, ",")))
	return hex.EncodeToString(sum[:16])
}

// updated returns s as a 304 confirms it (RFC 9111 §3.2). The body is as it was,
// so what says how it is coded stays.
func (s *Stored) updated(confirmation http.Header, requested time.Time) *Stored {
	u := *s
	u.Header = s.Header.Clone()
	u.Header.Del("Age") // that of the old response
	for name, values := range kept(confirmation) {
		if name != "Content-Length" && name != "Content-Encoding" {
			u.Header[name] = values
		}
	}
	u.Requested, u.Received = requested, time.Now()
	return &u
}

// ofConnection are the fields that concern one connection (RFC 9111 §3.1).
func ofConnection(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
		"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// kept returns the fields of a response's header that are stored.
func kept(h http.Header) http.Header {
	named := map[string]bool{}
	for _, name := range list(h["Connection"]) {
		named[strings.ToLower(name)] = true
	}
	out := make(http.Header, len(h))
	for name, v := range h {
		if !ofConnection(name) && !named[strings.ToLower(name)] {
			out[name] = v
		}
	}
	return out
}

// values returns the values of a field in whatever letter case its user wrote the
// name.
func values(h http.Header, name string) []string {
	if v, ok := h[http.CanonicalHeaderKey(name)]; ok {
		return v
	}
	for k, v := range h {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return nil
}

// list returns the members of a list over all lines of a field.
func list(lines []string) []string {
	var all []string
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if member = strings.TrimSpace(member); member != "" {
				all = append(all, member)
			}
		}
	}
	return all
}
