package cookie

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/internal/conformance"
)

// suite runs one file of published vectors and logs "family passed total" with the
// IDs that failed. A failure without a reason in except fails the test.
func suite[C any](t *testing.T, name string, except map[string]string, f func(c C) (ok bool, text string)) {
	cases := conformance.Cases[C](t, name)
	passed, total := 0, len(cases)
	var failed []string
	for _, c := range cases {
		ok, text := f(c.V)
		if ok {
			passed++
			continue
		}
		failed = append(failed, c.ID)
		if except[c.Test+c.Domain] == "" {
			t.Errorf("%s %s: %s", c.ID, c.Test, text)
		}
	}
	t.Logf("%s %d %d %s", strings.TrimSuffix(name, ".jsonl"), passed, total, strings.Join(failed, " "))
}

func TestConformanceDates(t *testing.T) {
	type vector struct {
		Input    string
		Expected *string
	}
	suite(t, "cookies/http_state_dates.jsonl", nil, func(c vector) (bool, string) {
		got := "none"
		if d, ok := ParseDate(c.Input); ok {
			got = d.Format(http.TimeFormat)
		}
		want := "none"
		if c.Expected != nil {
			want = *c.Expected
		}
		return got == want, c.Input + ": " + got + ", want " + want
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
	except := map[string]string{
		"DISABLED_PATH0029": "paths are compared as they stand, and %6F is not o (RFC 6265 §5.1.4)",
	}
	suite(t, "cookies/http_state_parser.jsonl", except, func(c vector) (bool, string) {
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
		return reflect.DeepEqual(got, c.Expected), "sent " + show(got) + ", want " + show(c.Expected)
	})
}

func show(v any) string { b, _ := json.Marshal(v); return string(b) }

// A registrable domain is one that takes a cookie, while the one above it does
// not.
func TestConformancePublicSuffix(t *testing.T) {
	type vector struct {
		Domain      string
		Registrable *string
	}
	const dot = "the dot in front of the value of a Domain attribute does not count (RFC 6265 §5.2.3)"
	except := map[string]string{".example.com": dot, ".example.example": dot}
	suite(t, "cookies/public_suffix.jsonl", except, func(c vector) (bool, string) {
		from, ok := PageOf("http://x." + strings.TrimPrefix(c.Domain, ".") + "/")
		if !ok {
			return false, "no host: " + c.Domain
		}
		takes := func(domain string) bool {
			k, ok := Parse("a=b; Domain="+domain, from, time.Now())
			return ok && !k.HostOnly && k.Domain == hostOf(domain)
		}
		if c.Registrable == nil {
			return !takes(c.Domain), c.Domain + " takes a cookie"
		}
		_, above, _ := strings.Cut(*c.Registrable, ".")
		return takes(*c.Registrable) && !takes(above), *c.Registrable + " takes none, or " + above + " does"
	})
}
