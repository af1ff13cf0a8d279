package scheduler

import (
	"fmt"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// FingerprintURL returns the fingerprint of a request to a URL that somebody has
// typed. An empty method is GET. The error says what is wrong with the URL.
func FingerprintURL(method, url string, body []byte) (Fingerprint, error) {
	clean, err := weburl.SafeURL(url)
	if err != nil || weburl.Scheme(clean) == "" {
		return Fingerprint{}, fmt.Errorf("URL %q: want a whole one, such as https://example.com/page", url)
	}
	return FingerprintOf(method, clean, body), nil
}

// A Selection names requests by their URLs. URLs that the default fingerprinter
// takes for the same are one.
type Selection struct {
	exact bool
	keys  map[Fingerprint]bool
}

// SelectURLs names all requests to some URLs, whatever their method and body.
func SelectURLs(urls []string) (*Selection, error) { return selection(false, "", nil, urls) }

// SelectRequests names the requests to some URLs that have this method, by
// default GET, and this body.
func SelectRequests(method string, body []byte, urls []string) (*Selection, error) {
	return selection(true, method, body, urls)
}

func selection(exact bool, method string, body []byte, urls []string) (*Selection, error) {
	s := &Selection{exact: exact, keys: map[Fingerprint]bool{}}
	for _, url := range urls {
		fp, err := FingerprintURL(method, url, body)
		if err != nil {
			return nil, err
		}
		s.keys[fp] = true
	}
	return s, nil
}

// Has reports whether a request is named.
func (s *Selection) Has(r crawl.Stored) bool {
	if s.exact {
		return s.keys[fingerprintOf(r)]
	}
	return s.keys[FingerprintOf("", r.URL, nil)]
}

// Empty reports whether nothing is named.
func (s *Selection) Empty() bool { return len(s.keys) == 0 }

func fingerprintOf(r crawl.Stored) Fingerprint { return FingerprintOf(r.Method, r.URL, r.Body) }
