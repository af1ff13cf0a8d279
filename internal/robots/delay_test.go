package robots

import (
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/internal/conformance"
)

// RB-12, and what else a file can ask for.
func TestDelay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, robots string
		want       time.Duration
	}{
		{"RB-12", "User-agent: *\nCrawl-delay: 10", 10 * time.Second},
		{"RB-12 absent", "User-agent: *\nDisallow: /x", 0},
		{"fraction", "User-agent: *\nCrawl-delay: 0.25", 250 * time.Millisecond},
		{"unit and case", "user-agent: *\nCRAWL-DELAY: 2S", 2 * time.Second},
		{"comment", "User-agent: *\nCrawl-delay: 7 # please", 7 * time.Second},
		{"a blank in the name", "User-agent: *\nCrawl delay: 7", 7 * time.Second},
		{"no colon", "User-agent: *\nRequest rate 1/10s 1820-1940", 10 * time.Second},
		{"markup", "User-agent: *<br>\nCrawl-delay: 7<br>", 7 * time.Second},
		{"rate", "User-agent: *\nRequest-rate: 1/10s", 10 * time.Second},
		{"rate of many", "User-agent: *\nRequest-rate: 100/15m", 9 * time.Second},
		{"rate of a day", "User-agent: *\nRequest-rate: 9000/1d", 9600 * time.Millisecond},
		{"rate with hours", "User-agent: *\nRequest-rate: 1/10 0600-0845", 10 * time.Second},
		{"the longest counts", "User-agent: *\nCrawl-delay: 5\nRequest-rate: 1/2h\nCrawl-delay: 9", 2 * time.Hour},
		{"own group", "User-agent: *\nCrawl-delay: 10\nUser-agent: mybot\nCrawl-delay: 3", 3 * time.Second},
		{"own group without", "User-agent: *\nCrawl-delay: 10\nUser-agent: mybot\nDisallow: /x", 0},
		{"own groups", "User-agent: mybot\nDisallow: /x\nUser-agent: *\nCrawl-delay: 9\nUser-agent: mybot\nCrawl-delay: 4", 4 * time.Second},
		{"several names", "User-agent: mybot\nUser-agent: *\nCrawl-delay: 4", 4 * time.Second},
		{"names of another delay", "User-agent: mybot\nCrawl-delay: 4\nUser-agent: other\nCrawl-delay: 40", 4 * time.Second},
		{"among the rules", "User-agent: mybot\nDisallow: /x\nCrawl-delay: 4\nAllow: /y\nUser-agent: *\nCrawl-delay: 40", 4 * time.Second},
		{"before any name", "Crawl-delay: 10\nUser-agent: *\nDisallow: /x", 0},
		{"beyond all bounds", "User-agent: *\nCrawl-delay: 99999999999999999999", maxDelay * time.Second},
	} {
		if got := Parse([]byte(tt.robots)).For("mybot").Delay(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.id, got, tt.want)
		}
	}
}

// What makes no sense is passed over.
func TestDelayIgnored(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"Crawl-delay:", "Crawl-delay: ten", "Crawl-delay: -1", "Crawl-delay: 0", "Crawl-delay: 1e3", "Crawl-delay: 0x10",
		"Crawl-delay: NaN", "Crawl-delay: Inf", "Crawl-delay: 1,5", "Crawl-delay: 500ms", "Crawl-delay: s", "Crawl-delay: 1.2.3",
		"Request-rate:", "Request-rate: 10", "Request-rate: 0/10", "Request-rate: -1/10", "Request-rate: 1/", "Request-rate: /10",
		"Request-rate: 1/ten", "Request-rate: 0.5/10", "Request-rate: 1/0s", "Crawl delays: 5",
	} {
		rules := Parse([]byte("User-agent: *\n" + line + "\nDisallow: /no")).For("mybot")
		if got := rules.Delay(); got != 0 {
			t.Errorf("%s: %v, want 0", line, got)
		}
		if rules.Allowed("/no") {
			t.Errorf("%s: the rule after it does not count", line)
		}
	}
}

type directive struct {
	Dialect, Kind, Robots string
	Agent                 string   `json:"user_agent"`
	Seconds               *float64 // of a crawl_delay; null for none
	Value                 any
}

// want returns the time between two requests that the case wants to be found.
func (d *directive) want() (time.Duration, bool) {
	seconds := 0.0
	switch {
	case d.Kind == "request_rate":
		rate := d.Value.(map[string]any)
		seconds = rate["seconds"].(float64) / rate["requests"].(float64)
	case d.Kind != "crawl_delay":
		return 0, false
	case d.Seconds != nil:
		seconds = *d.Seconds
	case d.Value != nil:
		seconds = d.Value.(float64)
	}
	return time.Duration(seconds * float64(time.Second)), true
}

func TestConformanceDirectives(t *testing.T) {
	conformance.Run(t, "robots/directives", func(r *conformance.Row, d directive) {
		want, ok := d.want()
		if !ok {
			r.Skipf("%s is not read", d.Kind)
		}
		if got := Parse([]byte(d.Robots)).For(strings.Fields(d.Agent)...).Delay(); got != want {
			r.Errorf("%v, want %v", got, want)
		}
	})
}
