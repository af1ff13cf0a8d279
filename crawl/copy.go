package crawl

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// Copy returns a copy of a request that has to stay in memory, because its
// callback or errback has no name. Like one that comes back from a queue it
// shares no value with the original: Meta and the arguments are copied as JSON,
// and a value that JSON can not hold is an error that names it.
func (c *Callbacks) Copy(r *Request) (*Request, error) {
	meta, err := CopyMeta(r.Meta)
	if err != nil {
		return nil, err
	}
	own := r.Clone()
	own.Meta = meta
	if err := c.copyArgs(own); err != nil {
		return nil, fmt.Errorf("arguments of %v can not be stored: %w", r, err)
	}
	return own, nil
}

// copyArgs gives a request arguments of its own.
func (c *Callbacks) copyArgs(r *Request) error {
	if r.Args != nil {
		b, err := json.Marshal(r.Args)
		if err != nil {
			return err
		}
		r.Args = json.RawMessage(b)
	}
	if r.Callback == nil || !c.resolve(r.Callback).probe {
		return nil
	}
	var p nameProbe
	if err := r.Callback(&p, nil, Out{}); err != nil || !p.bound {
		return err
	}
	b, err := json.Marshal(p.args)
	if err != nil {
		return err
	}
	return c.rebind(r, &p, b)
}

// rebind binds stored arguments to the callback of a request.
func (c *Callbacks) rebind(r *Request, p *nameProbe, b []byte) error {
	fn := reflect.ValueOf(p.fn)
	if p.fn == nil {
		fn = c.byName[p.name].fn
	}
	v, err := decodeArgs(fn.Type().In(3), b)
	if err != nil {
		return err
	}
	r.Args = v.Interface()
	if p.fn == nil {
		r.Callback = (&namedArgs{p.name, fn, v}).call
		return nil
	}
	r.Callback = (&bound{fn: p.fn, args: r.Args, call: func(ctx context.Context, r *Response, out Out) error {
		return callWith(fn, v, ctx, r, out)
	}}).callback
	return nil
}
