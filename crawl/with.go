package crawl

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// nameProbe is the context that asks a named callback for its name. Methods
// found by reflection all look alike to the runtime, so a request that was read
// back from a queue could not be stored again without it.
type nameProbe struct {
	context.Context        //nolint:containedctx // it is one, never used as such.
	name            string // of a method found by reflection
	fn              any    // else the callback that With bound
	args            any
	bound           bool // there are arguments, if only nil
}

// The named types below are types and not closures because the runtime's name
// of a method value is the same everywhere, while that of a closure changes when
// the function around it is inlined; and none is generic, since a method value
// of a generic type is a closure.
type (
	namedCallback struct {
		name string
		f    Callback
	}
	namedErrback struct {
		name string
		f    Errback
	}
	namedArgs struct {
		name string
		fn   reflect.Value
		args reflect.Value
	}
	bound struct {
		fn   any // with arguments
		args any
		call Callback
	}
)

// namedFuncs are the runtime names of the callbacks that answer to a nameProbe.
var namedFuncs = map[string]bool{ //nolint:gochecknoglobals // never changed.
	funcName((*namedCallback)(nil).call): true,
	funcName((*namedErrback)(nil).call):  true,
	funcName((*namedArgs)(nil).call):     true,
	funcName((*bound)(nil).callback):     true,
}

func (n *namedCallback) call(ctx context.Context, r *Response, out Out) error {
	if p, ok := ctx.(*nameProbe); ok {
		p.name = n.name
		return nil
	}
	return n.f(ctx, r, out)
}

func (n *namedErrback) call(ctx context.Context, f *Failure, out Out) error {
	if p, ok := ctx.(*nameProbe); ok {
		p.name = n.name
		return nil
	}
	return n.f(ctx, f, out)
}

func (n *namedArgs) call(ctx context.Context, r *Response, out Out) error {
	if p, ok := ctx.(*nameProbe); ok {
		p.name, p.args, p.bound = n.name, n.args.Interface(), true
		return nil
	}
	return callWith(n.fn, n.args, ctx, r, out)
}

// callWith calls a callback that takes arguments.
func callWith(fn, args reflect.Value, ctx context.Context, r *Response, out Out) error {
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(r), reflect.ValueOf(out), args}
	err, _ := reflect.TypeAssert[error](fn.Call(in)[0])
	return err
}

func (b *bound) callback(ctx context.Context, r *Response, out Out) error {
	if p, ok := ctx.(*nameProbe); ok {
		p.fn, p.args, p.bound = b.fn, b.args, true
		return nil
	}
	return b.call(ctx, r, out)
}

// With binds arguments to a callback. The compiler checks their type; they are
// stored with the request as JSON, and [ArgsOf] reads them in an errback:
//
//	out.Request(&crawl.Request{URL: u, Callback: crawl.With(s.ParseBook, Book{Shelf: 3})})
func With[A any](cb func(ctx context.Context, r *Response, out Out, args A) error, args A) Callback {
	b := &bound{fn: cb, args: args, call: func(ctx context.Context, r *Response, out Out) error { return cb(ctx, r, out, args) }}
	return b.callback
}

// boundArgs returns the arguments that a callback carries, nil if none.
func boundArgs(f Callback) any {
	if f == nil || !namedFuncs[funcName(f)] {
		return nil
	}
	var p nameProbe
	_ = f(&p, nil, Out{}) // what answers to a probe returns no error
	return p.args
}

// ArgsOf returns the arguments of a request, those that [With] bound to its
// callback or else its own, whether it stayed in memory or came back from a
// queue.
func ArgsOf[A any](r *Request) (A, error) {
	var a A
	args := boundArgs(r.Callback)
	if args == nil {
		args = r.Args
	}
	if v, ok := args.(json.RawMessage); ok && reflect.TypeFor[A]() != reflect.TypeFor[json.RawMessage]() {
		if err := json.Unmarshal(v, &a); err != nil {
			return a, fmt.Errorf("arguments of %v: %w", r, err)
		}
		return a, nil
	}
	if v, ok := args.(A); ok {
		return v, nil
	}
	return a, fmt.Errorf("arguments of %v are %T, not %v", r, args, reflect.TypeFor[A]())
}
