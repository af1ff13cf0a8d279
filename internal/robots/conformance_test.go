package robots

import (
	"regexp"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/conformance"
	"github.com/skeincrawl/skein/internal/weburl"
)

// vectors calls f for each case of a file of published test vectors.
func vectors[C any](t *testing.T, name string, f func(c C)) {
	t.Helper()
	for _, c := range conformance.Cases[C](t, name) {
		f(c.V)
	}
}

type verdict struct {
	ID, Test, Dialect, Robots, URL string
	Raw                            []byte   `json:"robots_b64"`
	Agent                          string   `json:"user_agent"`
	Agents                         []string `json:"user_agents"`
	Exact                          bool     `json:"exact_user_agent"`
	Allowed                        bool
}

func (v *verdict) got() bool {
	body := v.Raw
	if body == nil {
		body = []byte(v.Robots)
	}
	tokens := []string{v.Agent} // google's are tokens
	switch {
	case len(v.Agents) > 0:
		tokens = v.Agents
	case !strings.HasPrefix(v.Dialect, "google"):
		tokens = Tokens(v.Agent)
	}
	return Parse(body).For(tokens...).Allowed(v.path())
}

// path returns what the URL asks a server for. A crawler asks for clean URLs;
// Google's vectors are about the matcher alone.
func (v *verdict) path() string {
	u := v.URL
	if strings.HasPrefix(v.Dialect, "google") {
		u, _, _ = strings.Cut(u, "#")
		if u == "" {
			return "/"
		}
		return weburl.Target(u)
	}
	if strings.HasPrefix(u, "/") || u == "" {
		u = "http://a.test" + u
	}
	if clean, err := weburl.Resolve("", u); err == nil {
		u = clean
	}
	return weburl.Target(u)
}

// differs are the tests of others whose verdict RFC 9309 or Google's parser,
// whose word counts here, does not share.
var differs = map[string]string{
	"protego TestProtego.test_generosity":                "tokens end at a blank and at a star (RFC 9309 §2.2.1)",
	"protego TestProtego.test_grouping_unknown_keys":     "unknown records do not end a group (RFC 9309 §2.2.4)",
	"protego TestProtego.test_with_absolute_urls":        "a rule is a path, never a URL",
	"protego test_user_agent_precedence":                 "a token is compared as a whole",
	"crawler-commons testRfpCases":                       "that /robots.txt may be fetched is for the crawler to know",
	"crawler-commons testRfpCases2":                      "the same",
	"crawler-commons testHtmlMarkupInRobotsTxt":          "markup is no part of the format",
	"crawler-commons testBigCrawlDelay":                  "a long Crawl-delay forbids nothing",
	"crawler-commons testRobotsWithUTF16BEBOM":           "the format is UTF-8",
	"crawler-commons testDirectiveTypos":                 "misspellings that Google's parser does not know",
	"crawler-commons testSpacesInMultipleUserAgentNames": "one line names one crawler",
	"google ID_Encoding /foo/bar/baz":                    "RFC 9309 §2.2.2 decodes unreserved characters, in its own example",
	"google-spec non-ascii-paths.textproto /foo/bar/baz": "the same",
}

func (v *verdict) known() bool {
	name := v.Dialect + " " + v.Test
	return differs[name] != "" || differs[name+" "+v.path()] != ""
}

func TestConformanceAllow(t *testing.T) {
	passed, total := map[string]int{}, map[string]int{}
	vectors(t, "robots/allow.jsonl", func(v verdict) {
		total[v.Dialect]++
		if v.got() == v.Allowed {
			passed[v.Dialect]++
			return
		}
		t.Logf("%s %s failed", v.Dialect, v.ID)
		if !v.known() {
			t.Errorf("%s %s: %q for %q is allowed = %v, want %v\n%s%s", v.Test, v.ID, v.URL, v.Agent, !v.Allowed, v.Allowed, v.Robots, v.Raw)
		}
	})
	for dialect, n := range total {
		t.Logf("robots/allow %s %d %d", dialect, passed[dialect], n)
	}
}

var agentLine = regexp.MustCompile(`(?im)^\s*user-agent\s*:`)

// The files of real sites all have a group that is for everybody or for a crawler
// by name, unless they have no user-agent line.
func TestConformanceRealFiles(t *testing.T) {
	passed, total := 0, 0
	vectors(t, "robots/real_files.jsonl", func(c struct{ ID, File string }) {
		body := conformance.File(t, "robots/"+c.File)
		total++
		if len(Parse(body).agents) > 0 == agentLine.Match(body) {
			passed++
		} else {
			t.Errorf("%s: no group was found in %s", c.ID, c.File)
		}
	})
	t.Logf("robots/real_files %d %d", passed, total)
}
