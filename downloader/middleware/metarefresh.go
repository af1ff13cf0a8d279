package middleware

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/referrer"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { downloader.Middlewares.Register("metarefresh", newMetaRefresh) }

type metaRefreshConfig struct {
	Enabled  bool     `setting:"METAREFRESH_ENABLED"`
	MaxDelay int      `setting:"METAREFRESH_MAXDELAY"`
	Ignore   []string `setting:"METAREFRESH_IGNORE_TAGS"`
}

// newMetaRefresh treats the refresh that a page declares in a meta element like
// a redirect.
func newMetaRefresh(env *crawl.Env) (downloader.Middleware, error) {
	cfg := settings.Decode[metaRefreshConfig](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	for i, name := range cfg.Ignore {
		cfg.Ignore[i] = strings.ToLower(name)
	}
	hops := &redirect{cfg: settings.Decode[redirectConfig](env.Settings), log: env.Logger("redirect")}
	if referrer.Enabled(env) {
		var err error
		if hops.referer, err = referrer.New(env); err != nil {
			return nil, err
		}
	}
	return func(next crawl.Fetcher) crawl.Fetcher { return &metaRefresh{next: next, cfg: cfg, hops: hops} }, nil
}

type metaRefresh struct {
	next crawl.Fetcher
	cfg  metaRefreshConfig
	hops *redirect // makes the requests
}

func (m *metaRefresh) inner() crawl.Fetcher { return m.next }

// Fetch passes on r, and what came back unless it is a page to refresh. The
// statuses that a callback asks for do not matter, as in Scrapy.
func (m *metaRefresh) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	resp, err := m.next.Fetch(ctx, r)
	if err != nil || r.Method == http.MethodHead || r.Options.NoRedirect || !mayRefresh(resp.Body) || !isWeb(r.URL) {
		return resp, err
	}
	target := m.target(resp)
	if target == "" {
		return resp, nil
	}
	if err := m.hops.allow(r); err != nil {
		return nil, err
	}
	to := m.follow(r, resp, target)
	m.hops.log.Debug().Msgf("Redirecting (meta refresh) to %v from %v", to, r)
	return nil, crawl.Reschedule(to)
}

// follow makes the request for the target: always GET without a body.
func (m *metaRefresh) follow(r *crawl.Request, resp *crawl.Response, target string) *crawl.Request {
	form := *r
	form.Method = http.MethodPost // else the headers of a body would stay
	to := m.hops.follow(&form, &crawl.Response{URL: resp.URL, Header: resp.Header, Status: http.StatusSeeOther}, target)
	to.Trail.Redirects[len(to.Trail.Redirects)-1].Status = resp.Status
	return to
}

// target returns the URL to go on to, "" if there is none.
func (m *metaRefresh) target(resp *crawl.Response) string {
	page := head(resp)
	if !page.IsHTML() {
		return ""
	}
	text := page.Text()
	first := firstChars(text, refreshChars)
	delay, ref, ok := findRefresh(first, len(first) == len(text), m.cfg.Ignore)
	if !ok || delay.Seconds() >= float64(m.cfg.MaxDelay) {
		return ""
	}
	target, err := page.Join(ref)
	if err != nil || !isWeb(target) {
		return ""
	}
	return target
}

func isWeb(u string) bool {
	s := weburl.Scheme(u)
	return s == "http" || s == "https"
}

// refreshChars is how far from the beginning of a page a refresh is looked for,
// in characters, as in Scrapy.
const refreshChars = 4096

// head returns a response with as much of the body as has that many characters:
// no encoding of the web takes more than four bytes for one. So the page itself
// is not decoded for it.
func head(resp *crawl.Response) *crawl.Response {
	body := resp.Body
	if limit := 4 * refreshChars; len(body) > limit {
		body = body[:limit]
		for i := 1; i <= 4 && body[len(body)-i] >= 0x80; i++ {
			if body[len(body)-i] >= 0xc0 { // a character of UTF-8 that is cut in two
				body = body[:len(body)-i]
				break
			}
		}
	}
	return &crawl.Response{URL: resp.URL, Header: resp.Header, Body: body}
}

// mayRefresh tells quickly that a page has no refresh. Pages in UTF-16, which
// begin with a zero or a byte order mark, are always looked at.
func mayRefresh(body []byte) bool {
	body = body[:min(len(body), 4*refreshChars)]
	start := body[:min(len(body), 4)]
	if bytes.IndexByte(start, 0) >= 0 || bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return true
	}
	return hasWord(body, "http-equiv", 'q') && hasWord(body, "refresh", 'f')
}

// hasWord reports whether a word in small letters is in a text, whatever the
// letter case there. It looks for one of its letters, which should be a rare one.
func hasWord(text []byte, word string, letter byte) bool {
	at := strings.IndexByte(word, letter)
	for _, c := range []byte{letter, letter - 'a' + 'A'} {
		for i := 0; ; i++ {
			n := bytes.IndexByte(text[i:], c)
			if n < 0 {
				break
			}
			i += n
			if begin := i - at; begin >= 0 && begin+len(word) <= len(text) && bytes.EqualFold(text[begin:begin+len(word)], []byte(word)) {
				return true
			}
		}
	}
	return false
}
