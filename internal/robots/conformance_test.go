package robots

import (
	"regexp"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/conformance"
	"github.com/skeincrawl/skein/internal/weburl"
)

type verdict struct {
	Test, Dialect, Robots, URL string
	Raw                        []byte   `json:"robots_b64"`
	Agent                      string   `json:"user_agent"`
	Agents                     []string `json:"user_agents"`
	Exact                      bool     `json:"exact_user_agent"`
	Allowed                    bool
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

func TestConformanceAllow(t *testing.T) {
	conformance.Run(t, "robots/allow", func(r *conformance.Row, v verdict) {
		if got := v.got(); got != v.Allowed {
			r.Errorf("%s %s: %q for %q is allowed = %v, want %v; %.200q", v.Dialect, v.Test, v.URL, v.Agent, got, v.Allowed, v.Robots+string(v.Raw))
		}
	})
}

var agentLine = regexp.MustCompile(`(?im)^\s*user-agent\s*:`)

// The files of real sites all have a group that is for everybody or for a crawler
// by name, unless they have no user-agent line.
func TestConformanceRealFiles(t *testing.T) {
	conformance.Run(t, "robots/real_files", func(r *conformance.Row, c struct{ File string }) {
		body := r.File("robots/" + c.File)
		r.Equal(len(Parse(body).agents) > 0, agentLine.Match(body))
	})
}
