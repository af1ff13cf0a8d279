package downloader

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// newRequest makes the request for net/http. Its URL is not parsed by net/url,
// which refuses what servers and browsers take, such as a lone percent sign.
func newRequest(r *crawl.Request) (*http.Request, error) {
	u, err := wireURL(r.URL)
	if err != nil {
		return nil, err
	}
	if err := checkHead(r); err != nil {
		return nil, err
	}
	req := new(http.Request)
	req.Method, req.URL, req.Host, req.Header = r.Verb(), u, u.Host, r.Header
	req.Proto, req.ProtoMajor, req.ProtoMinor = "HTTP/1.1", 1, 1
	if r.Header == nil {
		req.Header = http.Header{}
	} else if host := r.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if len(r.Body) > 0 {
		req.ContentLength = int64(len(r.Body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
		req.Body, _ = req.GetBody() // never fails
	}
	return req, nil
}

// checkHead says what of a request HTTP can not send: another try would not help.
func checkHead(r *crawl.Request) error {
	if !httpguts.ValidHeaderFieldName(r.Verb()) { // both are tokens
		return fmt.Errorf("%q is no method of HTTP", r.Verb())
	}
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("%q is no name of a header", name)
		}
		if !slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			continue
		}
		return fmt.Errorf("the header %s has control characters: %q", name, values)
	}
	return nil
}

// wireURL cuts a URL into what net/http needs of it: scheme, host with port,
// and the target as it stands. User name and fragment stay here.
func wireURL(raw string) (*url.URL, error) {
	origin, target := weburl.Origin(raw), weburl.Target(raw)
	if !printable(target) {
		clean, err := weburl.Resolve("", raw)
		if err != nil {
			return nil, err
		}
		target = weburl.Target(clean)
	}
	scheme, host, _ := strings.Cut(origin, "://")
	if host == "" || scheme != "http" && scheme != "https" || !printable(target) {
		return nil, fmt.Errorf("%q is not a URL that http can ask for", raw)
	}
	if !strings.HasPrefix(target, "//") {
		return &url.URL{Scheme: scheme, Host: host, Opaque: target}, nil
	}
	// url.URL takes two slashes at the beginning of Opaque for a host.
	path, query, has := strings.Cut(target, "?")
	u := &url.URL{Scheme: scheme, Host: host, RawPath: path, RawQuery: query, ForceQuery: has}
	var err error
	if u.Path, err = url.PathUnescape(path); err == nil && u.EscapedPath() == path {
		return u, nil
	}
	return &url.URL{Scheme: scheme, Host: host, Opaque: "//" + host + target}, nil // the absolute form, RFC 9112 §3.2.2
}

// printable reports whether s can stand in the first line of a request.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
