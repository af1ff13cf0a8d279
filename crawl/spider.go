package crawl

import (
	"context"

	"github.com/skeincrawl/skein/settings"
)

// A Spider knows how to read one site. Its methods are called from several
// goroutines at a time, as those of an http handler. What else it can do are the
// optional interfaces below.
type Spider interface {
	// Parse handles the responses of requests without a callback.
	Parse(ctx context.Context, r *Response, out Out) error
}

// A Starter emits the first requests and items itself. Without it the start
// requests are Spec.StartURLs, not filtered as duplicates; a Start that is to
// begin again in the next round of a job sets DontFilter too. Start blocks in out
// while the crawl has more than it can take. When it was cut short by a stop,
// the next run calls it again and passes over what was accepted already.
type Starter interface {
	Start(ctx context.Context, out Out) error
}

// A Validator checks its arguments. It is called once they are filled in, before
// anything is opened; an error is the user's, and is best an [ArgError].
type Validator interface {
	Validate() error
}

// An Opener is told when its crawl begins, before Start, by the goroutine that
// runs the crawl. An error ends the crawl before its first request. A
// [CloseSpider] error ends it in good order.
type Opener interface {
	Open(ctx context.Context, env *Env) error
}

// A Closer is told when its crawl ends, after the last callback and before the
// feeds are closed.
type Closer interface {
	Close(ctx context.Context, reason string) error
}

// A Failer handles the failures of requests without an errback.
type Failer interface {
	Fail(ctx context.Context, f *Failure, out Out) error
}

// A Stater has state that survives a stop. State returns a pointer to it, the
// same at each call; it must be of a type that JSON can hold. The state is read
// back before Open. After that it changes only through [UpdateState] and is read
// through [ReadState].
type Stater interface {
	State() any
}

// A Resumer is called first, before anything is sent, in a run that goes on
// with a stopped job, for example to log in again.
type Resumer interface {
	Resume(ctx context.Context, out Out) error
}

// A SlotKeyer chooses the downloader slot of a request without Options.Slot.
// Like the other frontier policies it is called while the request is emitted,
// by several goroutines at a time, and must always answer the same for the same
// request. "" means the host.
type SlotKeyer interface {
	SlotKey(r *Request) string
}

// A Prioritizer sets the priority of a request, which has the one that the
// callback chose.
type Prioritizer interface {
	Priority(r *Request) int
}

// An Admitter refuses requests with an [Ignore] error, for example beyond a
// budget per host.
type Admitter interface {
	Admit(r *Request) error
}

// A Spec describes a spider to the crawl command.
type Spec struct {
	// Name is unique and no name of a command.
	Name string

	// Doc is one sentence for `crawl list` and the usage message.
	Doc string

	// AllowedDomains are the domains, with their subdomains, that requests may
	// go to. Empty allows all.
	AllowedDomains []string

	// StartURLs are fetched first if the spider is no [Starter].
	StartURLs []string

	// Settings override the defaults and the configuration file.
	Settings map[string]any

	// Configure may set further settings. Optional.
	Configure func(*settings.Layer) error

	// New returns a new spider. Its fields tagged `arg:"name"` are filled from
	// the arguments of the run.
	New func() Spider
}

// A DomainLister is a spider that knows its allowed domains only when it runs.
// It is asked after Open and replaces Spec.AllowedDomains.
type DomainLister interface {
	AllowedDomains() []string
}
