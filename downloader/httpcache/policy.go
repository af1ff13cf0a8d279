package httpcache

import (
	"net/http"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// A Policy decides what is stored and what stored responses are good for. Its
// methods are safe for concurrent use, wait for nothing and leave what they are
// given as it is. Requests with a Range header, for data URLs and with
// Options.NoCache or FTPLocalFilename never reach it, nor do incomplete responses,
// partial ones (206) and those that confirm others (304).
type Policy interface {
	// Admits reports whether the cache has anything to do with a request: if not,
	// it is sent, and its response not stored.
	Admits(r *crawl.Request) bool

	// Storable reports whether a response, which just came, may be stored.
	Storable(r *crawl.Request, resp *crawl.Response) bool

	// Fresh reports whether a stored response answers a request as it is.
	Fresh(r *crawl.Request, s *Stored) bool
}

// A Validator is a [Policy] that asks the server whether a stored response which
// is not fresh is still good. Without it such a response is fetched anew, and is
// of use only if that fails on the network.
type Validator interface {
	// Condition returns the headers that make a request ask for a newer response
	// only, none if there is nothing to ask by. They replace the request's own.
	Condition(r *crawl.Request, s *Stored) http.Header

	// Valid reports whether s is the answer to r, given what the server said. If
	// that is a 304, its header updates that of s.
	Valid(r *crawl.Request, s *Stored, resp *crawl.Response) bool

	// Recover reports whether s is the answer to r after the network failed.
	Recover(r *crawl.Request, s *Stored) bool
}

// A Varier is a [Policy] by which a resource may have several responses. Without
// it there is one.
type Varier interface {
	// Matches reports whether s is a response to what r asks for. It is replaced
	// by the next response to such a request.
	Matches(r *crawl.Request, s *Stored) bool
}

// An Invalidator is a [Policy] by which requests make stored responses void.
type Invalidator interface {
	// Invalidates returns the URLs whose responses are void now that r, which the
	// policy does not admit, got this response.
	Invalidates(r *crawl.Request, resp *crawl.Response) []string
}

// An Ager is a [Policy] by which responses from the cache have an Age header.
type Ager interface {
	// Age returns the time since the server of s made or confirmed it.
	Age(s *Stored) time.Duration
}

// Policies are the constructors of policies, by the names that HTTPCACHE_POLICY
// uses.
var Policies = crawl.NewRegistry[func(*crawl.Env) (Policy, error)]("HTTP cache policy").For("HTTPCACHE_POLICY") //nolint:gochecknoglobals // a registry.
