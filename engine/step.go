package engine

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/scheduler"
)

// maxStep is how many bytes of encoded requests a step may have before it is
// written in parts.
const maxStep = 4 << 20

// entryCost stands for the memory of an entry beside its encoded request.
const entryCost = 128

// step collects what one callback emits. It belongs to one worker; what Emit and
// Update touch is guarded, for a callback may emit from goroutines of its own.
type step struct {
	mu      sync.Mutex
	over    bool // the callback has returned
	e       *Engine
	resp    *crawl.Response // nil for a failure without one, and for Start
	push    []scheduler.Entry
	feeds   [][]byte // by feed
	counts  int      // items in them
	items   []any
	changes []func(any)
	size    int
	marks   []int // lengths of feeds before the present item
	retried bool  // the request is one more try of the one being handled

	// flush writes the beginning of a step that has become too large.
	flush func(ctx context.Context, push []scheduler.Entry) error
}

var (
	_ crawl.Step        = (*step)(nil)
	_ crawl.StateKeeper = (*stateStep)(nil)
)

// Emit implements [crawl.Step].
func (s *step) Emit(ctx context.Context, v any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return errOver
	}
	return s.take(ctx, v)
}

// take is Emit for the one who owns the step.
func (s *step) take(ctx context.Context, v any) error {
	if ctx.Err() != nil {
		return fmt.Errorf("emit: %w", context.Cause(ctx))
	}
	r, ok := v.(*crawl.Request)
	if !ok {
		s.item(ctx, v)
		return nil
	}
	entry, err := s.e.admit(ctx, r, s.retried)
	if err != nil || entry.Request == nil {
		return err
	}
	return s.add(ctx, entry)
}

var errOver = errors.New("emit: the callback has returned")

// takeChanges returns the changes of the state since the last call.
func (s *step) takeChanges() []func(any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := s.changes
	s.changes = nil
	return changes
}

// end makes sure that nothing is added any more.
func (s *step) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

func (s *step) add(ctx context.Context, entry scheduler.Entry) error {
	s.push = append(s.push, entry)
	s.size += len(entry.Body) + entryCost
	if s.size < maxStep || s.flush == nil {
		return nil
	}
	err := s.flush(ctx, s.push)
	s.push, s.size = nil, 0
	return err
}

// item renders an item for all feeds.
func (s *step) item(ctx context.Context, v any) {
	s.marks = s.marks[:0]
	for _, b := range s.feeds {
		s.marks = append(s.marks, len(b))
	}
	err := crawl.Guard(func() error {
		_, err := s.e.feeds.Render(v, s.feeds) // there is one slice a feed: it needs no more
		return err
	})
	if err != nil {
		for i, n := range s.marks { // a panic leaves it in some feeds
			s.feeds[i] = s.feeds[i][:n]
		}
		s.e.itemFailed(ctx, v, s.resp, err)
		return
	}
	s.counts++
	s.items = append(s.items, v)
}

// feedBytes returns the rendered items as the frontier takes them.
func (s *step) feedBytes() []scheduler.FeedBytes {
	var all []scheduler.FeedBytes
	for i, b := range s.feeds {
		if len(b) > 0 {
			all = append(all, scheduler.FeedBytes{Feed: i, Bytes: b, Items: s.counts})
		}
	}
	return all
}

// stateStep is a step of a spider with state.
type stateStep struct {
	*step
	state   *state
	reading bool // within Read
}

// Update implements [crawl.StateKeeper].
func (s *stateStep) Update(change func(any)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return errOver
	}
	s.changes = append(s.changes, change)
	return nil
}

// Read implements [crawl.StateKeeper]. f may use the state again: a second lock
// would wait for the loop, which waits for the first.
func (s *stateStep) Read(f func(any)) error {
	if s.reading {
		f(s.state.v)
		return nil
	}
	s.reading = true
	defer func() { s.reading = false }()
	s.state.read(f)
	return nil
}

// newStep returns a step and what to hand to the callback.
func (e *Engine) newStep(r *crawl.Response) (*step, crawl.Step) {
	s := &step{e: e, resp: r, feeds: make([][]byte, e.feeds.Len())}
	if e.state == nil {
		return s, s
	}
	return s, &stateStep{step: s, state: e.state}
}

// admit prepares a request for the frontier: it applies the spider's policies,
// computes the fingerprint and encodes the request unless it is known already.
// An entry without request was refused, and that is reported. The spider is not
// asked about a retry, which it admitted with the first try.
func (e *Engine) admit(ctx context.Context, r *crawl.Request, retried bool) (scheduler.Entry, error) {
	var none scheduler.Entry
	r, err := e.prepare(r)
	if err != nil {
		return none, err
	}
	if refused, err := e.refused(ctx, r); refused || err != nil {
		return none, err
	}
	entry := scheduler.Entry{Request: r}
	if entry.Fingerprint, err = e.fingerprint(r); err != nil {
		return none, err
	}
	if !r.DontFilter && e.known(entry.Fingerprint) {
		entry.Known = true
		return entry, nil
	}
	if e.policies.admit != nil && !retried { // after the duplicates, lest they use up a budget
		if refused, err := ignored(e.policies.admit.Admit(r)); refused || err != nil {
			if err == nil {
				e.dropped(ctx, r)
			}
			return none, err
		}
	}
	entry.Slot, _ = e.slotKey(r)
	return e.encode(entry) //nolint:contextcheck // naming a callback needs none.
}

// prepare makes the request clean: its URL is absolute and as it goes on the
// wire, its priority what the spider wants.
func (e *Engine) prepare(r *crawl.Request) (*crawl.Request, error) {
	u, err := weburl.SafeURL(r.URL)
	if err != nil {
		return nil, fmt.Errorf("request %v: %w", r, err)
	}
	if weburl.Scheme(u) == "" {
		return nil, fmt.Errorf("missing scheme in request URL: %s", r.URL)
	}
	if err := downloader.CheckOptions(&r.Options); err != nil {
		return nil, fmt.Errorf("request %v: %w", r, err)
	}
	priority := r.Priority
	if e.policies.priority != nil {
		priority = e.policies.priority.Priority(r)
	}
	if u == r.URL && priority == r.Priority {
		return r, nil
	}
	c := *r
	c.URL, c.Priority = u, priority
	return &c, nil
}

// refused asks those who listen whether the request may go.
func (e *Engine) refused(ctx context.Context, r *crawl.Request) (bool, error) {
	return ignored(crawl.Send(ctx, e.env.Signals, crawl.RequestScheduled{Request: r}))
}

// ignored tells an error that refuses from others.
func ignored(err error) (bool, error) {
	if err == nil {
		return false, nil
	}
	if ig := new(crawl.IgnoreError); errors.As(err, &ig) {
		return true, nil
	}
	return true, err
}

// A fingerprintError is that of a request without fingerprint.
type fingerprintError struct{ err error }

func (e *fingerprintError) Error() string { return "fingerprint: " + e.err.Error() }

func (e *fingerprintError) Unwrap() error { return e.err }

func (e *Engine) fingerprint(r *crawl.Request) (fp scheduler.Fingerprint, err error) {
	err = crawl.Guard(func() (err error) {
		fp, err = e.fingerprinter(r)
		return err
	})
	if err != nil {
		return fp, &fingerprintError{fmt.Errorf("request %v: %w", r, err)}
	}
	return fp, nil
}

func (e *Engine) known(fp scheduler.Fingerprint) bool { return e.haser != nil && e.haser.Has(fp) }

// encode fills in the stored form. A request whose callback has no name stays as
// it is, with its own copies of all values.
func (e *Engine) encode(entry scheduler.Entry) (scheduler.Entry, error) {
	r := entry.Request
	var err error
	entry.Callback, entry.Errback, err = e.env.Callbacks.Names(r)
	if err == nil {
		size := len(r.URL) + len(r.Body)*2 + 128
		entry.Body, err = e.env.Callbacks.AppendRequest(make([]byte, 0, 1<<bits.Len(uint(size))), r)
	}
	if err == nil {
		return entry, nil
	}
	entry.Body = nil
	if !errors.Is(err, crawl.ErrUnserializable) {
		return scheduler.Entry{}, err
	}
	own, cerr := e.env.Callbacks.Copy(r)
	if cerr != nil {
		return scheduler.Entry{}, cerr
	}
	entry.Request, entry.Why = own, err
	return entry, nil
}
