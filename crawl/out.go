package crawl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"

	"github.com/skeincrawl/skein/internal/weburl"
)

// A Step receives what one callback emits; an [Out] leads to it. The engine
// implements it, and tests of spiders can.
type Step interface {
	// Emit takes a *Request or an item. It returns an error that wraps
	// [ErrStopped] once the step was cut, and any other error for something that
	// can not be taken, after which the step goes on.
	Emit(ctx context.Context, v any) error
}

// A StateKeeper is a [Step] of a spider with state.
type StateKeeper interface {
	// Update adds a change, to be made when the step is committed.
	Update(change func(state any)) error

	// Read calls f with the state as of the last committed step. f must not keep
	// or change it.
	Read(f func(state any)) error
}

// Out takes what a callback produces. It is valid until the callback returns: what
// a goroutine emits later is lost. It is safe for concurrent use, if the functions
// given to [Out.Through] are. The first error of any of its methods is
// kept and reported as an error of the callback, unless that returned one itself;
// what is emitted after it still counts. Once the crawl was stopped hard,
// [ErrStopped] takes its place and nothing more is emitted.
type Out struct{ o *out }

type out struct {
	ctx   context.Context //nolint:containedctx // an Out lives as long as one call of a callback.
	step  Step
	fetch Fetcher
	base  *Response
	err   *firstError // shared with those that Through returned
}

// firstError keeps the first error there was, or ErrStopped.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || errors.Is(err, ErrStopped) {
		f.err = err
	}
}

// NewOut returns an Out for one call of a callback. The response may be nil;
// else references are resolved against it. fetch serves [Out.Fetch].
func NewOut(ctx context.Context, base *Response, step Step, fetch Fetcher) Out {
	return Out{&out{ctx: ctx, step: step, fetch: fetch, base: base, err: new(firstError)}}
}

// Err returns the first error there was, or [ErrStopped].
func (o Out) Err() error { return o.o.err.get() }

// Item emits an item: a struct, a pointer to one, a map, or a [Record].
func (o Out) Item(item any) {
	if item == nil {
		o.fail(errors.New("an item is nil"))
		return
	}
	o.emit(item)
}

// Request emits a request. A relative URL is resolved against the page. A URL
// that is unusable is an error of the callback: use [Out.Follow] for references
// found in a page.
func (o Out) Request(r *Request) {
	if r == nil {
		o.fail(errors.New("a request is nil"))
		return
	}
	if o.o.base != nil {
		u, err := o.o.base.Join(r.URL)
		if err != nil {
			o.fail(err)
			return
		}
		if u != r.URL {
			c := *r
			c.URL = u
			r = &c
		}
	}
	o.emit(r)
}

// Follow emits a GET of a reference found in the page. An empty reference and
// one that is no usable URL are passed over. Without a page, as in Start, only
// absolute URLs are usable.
func (o Out) Follow(ref string, cb Callback) {
	if ref == "" {
		return
	}
	u, err := o.join(ref)
	if err != nil {
		return
	}
	o.emit(&Request{URL: u, Callback: cb})
}

func (o Out) join(ref string) (string, error) {
	if o.o.base == nil {
		return weburl.Resolve("", ref)
	}
	return o.o.base.Join(ref)
}

// FollowAll follows every reference.
func (o Out) FollowAll(refs iter.Seq[string], cb Callback) {
	for ref := range refs {
		o.Follow(ref, cb)
	}
}

// Fetch downloads a request here and now, through the downloader's slots and
// middlewares but past the scheduler and its duplicate filter. Redirects and
// retries are followed. It blocks until the response is there.
func (o Out) Fetch(ctx context.Context, r *Request) (*Response, error) {
	if o.o.fetch == nil {
		return nil, errors.New("fetch: there is no downloader here")
	}
	if o.o.base != nil {
		u, err := o.o.base.Join(r.URL)
		if err != nil {
			return nil, err
		}
		c := *r
		c.URL = u
		r = &c
	}
	return o.o.fetch.Fetch(ctx, r)
}

// Through returns an Out whose requests and items pass through f first. What f
// answers with nil is not emitted. Errors are those of o.
func (o Out) Through(f func(v any) any) Out {
	inner := *o.o
	inner.step = &through{outer: o, f: f}
	return Out{&inner}
}

type through struct {
	outer Out
	f     func(any) any
}

func (t *through) Emit(_ context.Context, v any) error {
	if v = t.f(v); v != nil {
		t.outer.emit(v)
	}
	return t.outer.o.err.get()
}

func (t *through) Update(change func(any)) error {
	t.outer.keep(func(k StateKeeper) error { return k.Update(change) })
	return t.outer.o.err.get()
}

func (t *through) Read(f func(any)) error {
	t.outer.keep(func(k StateKeeper) error { return k.Read(f) })
	return t.outer.o.err.get()
}

// UpdateState changes the spider's state, of type S, as part of the step: the
// change is made when the step is committed, in the order of commits, and never
// for a step that is not. S is the type that [Stater.State] points to; any other
// is an error of the callback, as is a spider without state.
func UpdateState[S any](o Out, change func(state *S)) {
	o.keep(func(k StateKeeper) error {
		if err := readState(k, func(*S) {}); err != nil {
			return err
		}
		return k.Update(func(state any) { change(state.(*S)) })
	})
}

// ReadState calls f with the spider's state as of the last committed step. f
// must not keep or change it. The errors are those of [UpdateState].
func ReadState[S any](o Out, f func(state *S)) {
	o.keep(func(k StateKeeper) error { return readState(k, f) })
}

func readState[S any](k StateKeeper, f func(state *S)) error {
	var wrong error
	err := k.Read(func(state any) {
		if s, ok := state.(*S); ok {
			f(s)
		} else {
			wrong = fmt.Errorf("the spider's state is a %T, not a %v", state, reflect.TypeFor[*S]())
		}
	})
	return errors.Join(err, wrong)
}

var errNoState = errors.New("there is no state here: the spider is no crawl.Stater, or the Collector of a test has no State")

func (o Out) keep(do func(StateKeeper) error) {
	k, ok := o.o.step.(StateKeeper)
	if !ok {
		o.fail(errNoState)
		return
	}
	if err := do(k); err != nil {
		o.fail(err)
	}
}

func (o Out) emit(v any) {
	if errors.Is(o.o.err.get(), ErrStopped) {
		return
	}
	if err := o.o.step.Emit(o.o.ctx, v); err != nil {
		o.fail(err)
	}
}

func (o Out) fail(err error) { o.o.err.set(err) }

// Collector is a [Step] that keeps what it is given, for tests of callbacks:
//
//	c := &crawl.Collector{State: spider.State()}
//	err := spider.OnError(ctx, failure, c.Out(ctx, failure.Response))
type Collector struct {
	Requests []*Request
	Items    []any

	// State is a pointer to the state of a spider that has one. Changes are made
	// at once.
	State any

	// Fetcher serves [Out.Fetch].
	Fetcher Fetcher
}

var (
	_ Step        = (*Collector)(nil)
	_ StateKeeper = (*Collector)(nil)
)

// Out returns what to hand to a callback for r, or to one without a response.
func (c *Collector) Out(ctx context.Context, r *Response) Out { return NewOut(ctx, r, c, c.Fetcher) }

// Emit keeps v.
func (c *Collector) Emit(_ context.Context, v any) error {
	if r, ok := v.(*Request); ok {
		c.Requests = append(c.Requests, r)
	} else {
		c.Items = append(c.Items, v)
	}
	return nil
}

// Update implements [StateKeeper].
func (c *Collector) Update(change func(any)) error { return c.Read(change) }

// Read implements [StateKeeper].
func (c *Collector) Read(f func(any)) error {
	if c.State == nil {
		return errNoState
	}
	f(c.State)
	return nil
}

// Run calls a callback with a response and returns what it emitted.
func Run(ctx context.Context, cb Callback, r *Response) (*Collector, error) {
	r.forgetSelectorErr() // of an earlier test with the same page
	c := &Collector{}
	out := c.Out(ctx, r)
	err := cb(ctx, r, out)
	return c, errors.Join(err, out.Err(), r.SelectorErr())
}
