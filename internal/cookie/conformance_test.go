package cookie

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/internal/conformance"
)

func TestConformanceDates(t *testing.T) {
	type vector struct {
		Input    string
		Expected *string
	}
	conformance.Run(t, "cookies/http_state_dates", func(r *conformance.Row, c vector) {
		var got *string
		if d, ok := ParseDate(c.Input); ok {
			text := d.Format(http.TimeFormat)
			got = &text
		}
		r.Equal(got, c.Expected)
	})
}

func TestConformanceParser(t *testing.T) {
	type vector struct {
		Now       time.Time
		URL       string   `json:"request_url"`
		SetCookie []string `json:"set_cookie"`
		SentTo    string   `json:"sent_to"`
		Expected  [][2]string
	}
	conformance.Run(t, "cookies/http_state_parser", func(r *conformance.Row, c vector) {
		var jar Jar
		from, _ := PageOf(c.URL)
		for _, h := range c.SetCookie {
			if k, ok := Parse(h, from, c.Now); ok {
				jar.Set(k, c.Now)
			}
		}
		to, _ := PageOf(c.SentTo)
		got := [][2]string{}
		for _, p := range jar.For(to, c.Now) {
			got = append(got, [2]string{p.Name, p.Value})
		}
		r.Equal(got, c.Expected)
	})
}

// A registrable domain is one that takes a cookie, while the one above it does
// not, of a page below. Nothing is below a name that begins with a dot.
func TestConformancePublicSuffix(t *testing.T) {
	type vector struct {
		Domain      string
		Registrable *string
	}
	conformance.Run(t, "cookies/public_suffix", func(r *conformance.Row, c vector) {
		host := c.Domain
		if !strings.HasPrefix(host, ".") {
			host = "x." + host
		}
		from, ok := PageOf("http://" + host + "/")
		if !ok {
			r.Fatalf("no host: %s", c.Domain)
		}
		takes := func(domain string) bool {
			k, ok := Parse("a=b; Domain="+domain, from, time.Now())
			return ok && !k.HostOnly && k.Domain == hostOf(domain)
		}
		if c.Registrable == nil {
			r.Equal(takes(c.Domain), false)
			return
		}
		_, above, _ := strings.Cut(*c.Registrable, ".")
		r.Equal([]bool{takes(*c.Registrable), takes(above)}, []bool{true, false})
	})
}
