package cookie

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxPerDomain bounds the cookies of one domain, as in Chromium; the oldest give
// way.
const maxPerDomain = 180

// A Jar keeps cookies. The zero value is an empty jar. It is safe for concurrent
// use.
type Jar struct {
	mu      sync.RWMutex
	domains map[string][]entry // by Cookie.Domain, oldest first
	count   int
	sweepAt int
	born    uint64
}

// entry is a cookie in the jar.
type entry struct {
	Cookie
	born  uint64 // its place in the order of creation
	noted int64  // the expiry that was last reported as a change
}

// Set puts a cookie into the jar, in place of one of the same name, domain and
// path, or deletes that one if c has expired. It reports whether that is worth
// noting: a cookie that only lives on a little longer is not.
func (j *Jar) Set(c Cookie, now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.domains[c.Domain]
	i := slices.IndexFunc(list, func(e entry) bool { return e.Name == c.Name && e.Path == c.Path })
	switch gone := c.Expires <= now.Unix(); {
	case gone && i < 0:
		return false
	case gone:
		j.remove(c.Domain, i)
		return true
	case i >= 0:
		return list[i].update(c, now.Unix())
	}
	j.add(c, now.Unix())
	return true
}

// update replaces the cookie of an entry, which keeps its place.
func (e *entry) update(c Cookie, now int64) bool {
	old := e.Cookie
	e.Cookie = c
	old.Expires = c.Expires
	if old == c && closeTo(e.noted, c.Expires, now) {
		return false
	}
	e.noted = c.Expires
	return true
}

// closeTo reports whether two expiries differ by less than an eighth of the time
// that is left: sites move the expiry with every page.
func closeTo(noted, expires, now int64) bool {
	if noted == Session || expires == Session {
		return noted == expires
	}
	return max(noted-expires, expires-noted) < (expires-now)/8
}

func (j *Jar) add(c Cookie, now int64) {
	if j.domains == nil {
		j.domains = map[string][]entry{}
	}
	if j.count >= j.sweepAt {
		j.sweep(now)
		j.sweepAt = 2*j.count + 1000
	}
	if len(j.domains[c.Domain]) >= maxPerDomain {
		j.remove(c.Domain, 0)
	}
	j.born++
	j.count++
	list := j.domains[c.Domain]
	if list == nil {
		list = make([]entry, 0, 1)
	}
	j.domains[c.Domain] = append(list, entry{Cookie: c, born: j.born, noted: c.Expires})
}

func (j *Jar) remove(domain string, i int) {
	j.count--
	list := slices.Delete(j.domains[domain], i, i+1)
	if len(list) == 0 {
		delete(j.domains, domain)
		return
	}
	j.domains[domain] = list
}

// sweep removes what has expired. It runs each time that the jar has doubled.
func (j *Jar) sweep(now int64) {
	j.count = 0
	for domain, list := range j.domains {
		list = slices.DeleteFunc(list, func(e entry) bool { return e.Expires <= now })
		if len(list) == 0 {
			delete(j.domains, domain)
			continue
		}
		j.domains[domain] = list
		j.count += len(list)
	}
}

// A Pair is a cookie as it is sent.
type Pair struct{ Name, Value string }

// match is a cookie to send, with what it is ordered by.
type match struct {
	Pair
	path int
	born uint64
}

// For returns the cookies to send to a page, longer paths first, then older ones
// (RFC 6265 §5.4). It does not allocate when there are none.
func (j *Jar) For(p Page, now time.Time) []Pair {
	found := j.find(p, now.Unix())
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b match) int { return cmp.Or(b.path-a.path, cmp.Compare(a.born, b.born)) })
	pairs := make([]Pair, len(found))
	for i := range found {
		pairs[i] = found[i].Pair
	}
	return pairs
}

func (j *Jar) find(p Page, now int64) (found []match) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for domain := p.Host; ; {
		list := j.domains[domain]
		for i := range list {
			if e := &list[i]; e.goesTo(p, now) {
				found = append(found, match{Pair{e.Name, e.Value}, len(e.Path), e.born})
			}
		}
		dot := strings.IndexByte(domain, '.')
		if dot < 0 || len(j.domains) == 0 || isAddress(p.Host) {
			return found
		}
		domain = domain[dot+1:]
	}
}

func (e *entry) goesTo(p Page, now int64) bool {
	return e.Expires > now && (!e.HostOnly || e.Domain == p.Host) && (!e.Secure || p.Secure) && covers(e.Path, p.Path)
}

// covers reports whether a path is that of a cookie or lies below it (RFC 6265
// §5.1.4).
func covers(cookie, path string) bool {
	if !strings.HasPrefix(path, cookie) {
		return false
	}
	return len(path) == len(cookie) || cookie[len(cookie)-1] == '/' || path[len(cookie)] == '/'
}
