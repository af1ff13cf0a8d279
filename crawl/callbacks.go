package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// ErrUnserializable is wrapped by the error for a request that no queue on disk
// can hold, because its callback has no name.
var ErrUnserializable = errors.New("the callback is not an exported method of the spider")

// Callbacks gives the callbacks of a spider names, so that requests can be
// stored. Names are those of the spider's exported methods, its own and those
// of the types it embeds. A name stands for the method of the running spider:
// a method value of another instance of the type comes back bound to the
// running one. It is safe for concurrent use.
type Callbacks struct {
	byName map[string]method
	byPC   sync.Map // uintptr -> resolved
	typ    reflect.Type
}

// method is one callback of the spider; one of its first three fields is set.
type method struct {
	callback Callback      // without arguments
	errback  Errback       //
	fn       reflect.Value // with arguments of type args
	args     reflect.Type
	from     [2]string // what the runtime calls the type that declares it
}

// NewCallbacks finds the callbacks of a spider: its exported methods with the
// signature of a [Callback], of an [Errback], or of the callbacks that [With]
// takes.
func NewCallbacks(spider any) *Callbacks {
	v := reflect.ValueOf(spider)
	c := &Callbacks{byName: map[string]method{}, typ: v.Type()}
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		var m method
		switch f := v.Method(i).Interface().(type) {
		case func(context.Context, *Response, Out) error:
			m.callback = (&namedCallback{name, f}).call
		case func(context.Context, *Failure, Out) error:
			m.errback = (&namedErrback{name, f}).call
		default:
			if m.args = argsOf(v.Method(i).Type()); m.args == nil {
				continue
			}
			m.fn = v.Method(i)
		}
		m.from = receiverNames(declarer(v.Type(), name))
		c.byName[name] = m
	}
	return c
}

// argsOf returns the fourth parameter of func(Context, *Response, Out, A) error.
func argsOf(t reflect.Type) reflect.Type {
	if t.NumIn() != 4 || t.NumOut() != 1 || t.IsVariadic() ||
		t.In(0) != reflect.TypeFor[context.Context]() || t.In(1) != reflect.TypeFor[*Response]() ||
		t.In(2) != reflect.TypeFor[Out]() || t.Out(0) != reflect.TypeFor[error]() {
		return nil
	}
	return t.In(3)
}

// callbackName returns the name under which a callback can be found again, and
// the arguments that With bound to it. The name of nil is "".
func (c *Callbacks) callbackName(f Callback) (name string, args any, err error) {
	if f == nil {
		return "", nil, nil
	}
	r := c.resolve(f)
	if !r.probe {
		return r.name, nil, r.err
	}
	var p nameProbe
	if err := f(&p, nil, Out{}); err != nil {
		return "", nil, err
	}
	if p.fn != nil {
		r = c.resolve(p.fn)
		p.name = r.name
	}
	if p.bound && p.args == nil {
		p.args = json.RawMessage("null") // arguments of an interface type
	}
	return p.name, p.args, r.err
}

// errbackName returns the name under which an errback can be found again.
func (c *Callbacks) errbackName(f Errback) (string, error) {
	if f == nil {
		return "", nil
	}
	r := c.resolve(f)
	if !r.probe {
		return r.name, r.err
	}
	var p nameProbe
	err := f(&p, nil, Out{})
	return p.name, err
}

// Names returns the names under which the callback and the errback of a request
// are stored, "" for nil ones. The error is that of [Callbacks.AppendRequest].
func (c *Callbacks) Names(r *Request) (callback, errback string, err error) {
	if callback, _, err = c.callbackName(r.Callback); err != nil {
		return "", "", err
	}
	errback, err = c.errbackName(r.Errback)
	return callback, errback, err
}

// Has reports whether the spider has a callback or errback of this name.
func (c *Callbacks) Has(name string) bool { _, ok := c.byName[name]; return ok }

// bind sets the callback, errback and arguments of a request that was read.
func (c *Callbacks) bind(r *Request, callback, errback string, args json.RawMessage) error {
	if args != nil {
		r.Args = args
	}
	if callback != "" {
		m := c.byName[callback]
		r.Callback = m.callback
		if m.args != nil {
			v, err := decodeArgs(m.args, args)
			if err != nil {
				return fmt.Errorf("arguments of callback %s: %w", callback, err)
			}
			r.Args = v.Interface()
			r.Callback = (&namedArgs{callback, m.fn, v}).call
		}
		if r.Callback == nil {
			return fmt.Errorf("the spider has no callback %q", callback)
		}
	}
	if errback != "" {
		if r.Errback = c.byName[errback].errback; r.Errback == nil {
			return fmt.Errorf("the spider has no errback %q", errback)
		}
	}
	return nil
}

func decodeArgs(t reflect.Type, b json.RawMessage) (reflect.Value, error) {
	v := reflect.New(t)
	if b == nil {
		return v.Elem(), errors.New("none were stored")
	}
	return v.Elem(), json.Unmarshal(b, v.Interface())
}
