package feeds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/skeincrawl/skein/crawl"
)

// objects renders items as JSON objects on one line, which all formats begin
// with. It is safe for concurrent use.
type objects struct {
	chosen   []chosenField // none for all
	encoders sync.Pool
	scratch  sync.Pool
}

func newObjects(fields []Field) *objects {
	return &objects{
		chosen:   chosenFields(fields),
		encoders: sync.Pool{New: newEncoder},
		scratch:  sync.Pool{New: func() any { return new(scratch) }},
	}
}

// scratch is what taking an object apart needs.
type scratch struct {
	buf   []byte
	pairs []pair
	cells [][]byte
}

type jsonAppender interface {
	AppendJSON(dst []byte) ([]byte, error)
}

// append appends the object. After an error it returns dst as it was. The error
// names the format.
func (o *objects) append(dst []byte, item any, format string) ([]byte, error) {
	line, err := o.render(dst, item)
	if err == nil && len(o.chosen) > 0 {
		line, err = o.choose(line, len(dst))
	}
	if err != nil {
		return dst, fmt.Errorf("item of type %T as %s: %w", item, format, err)
	}
	return line, nil
}

func (o *objects) render(dst []byte, item any) ([]byte, error) {
	switch v := item.(type) {
	case crawl.Record:
		return v.AppendJSON(dst)
	case jsonAppender:
		if p := reflect.ValueOf(item); p.Kind() == reflect.Pointer && p.IsNil() {
			return nil, errNoObject
		}
		line, err := v.AppendJSON(dst)
		if err != nil {
			return nil, err
		}
		return line, checkLine(line[len(dst):])
	}
	return o.marshal(dst, item)
}

var errNoObject = errors.New("it is no object: emit a struct, a map or a crawl.Record")

// checkLine looks for what would break the feed's lines. A type that renders
// itself is trusted with the rest.
func checkLine(line []byte) error {
	switch {
	case len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}':
		return errNoObject
	case bytes.IndexByte(line, '\n') >= 0:
		return errors.New("its AppendJSON writes more than one line")
	}
	return nil
}

// An encoder is a json.Encoder that appends to a slice.
type encoder struct {
	json *json.Encoder
	dst  []byte
}

func newEncoder() any {
	e := &encoder{}
	e.json = json.NewEncoder(e)
	e.json.SetEscapeHTML(false)
	return e
}

// Write appends p.
func (e *encoder) Write(p []byte) (int, error) {
	e.dst = append(e.dst, p...)
	return len(p), nil
}

func (o *objects) marshal(dst []byte, item any) ([]byte, error) {
	enc := o.encoders.Get().(*encoder)
	enc.dst = dst
	err := enc.json.Encode(item)
	line := enc.dst
	enc.dst = nil
	o.encoders.Put(enc)
	switch {
	case err != nil:
		return nil, err
	case line[len(dst)] != '{':
		return nil, errNoObject
	}
	return line[:len(line)-1], nil // without the encoder's line feed
}

// choose replaces the object that begins at an offset by one with the wanted
// fields in their order. A field that the item lacks is left out.
func (o *objects) choose(line []byte, at int) ([]byte, error) {
	s := o.scratch.Get().(*scratch)
	defer o.scratch.Put(s)
	s.buf = append(s.buf[:0], line[at:]...)
	var err error
	if s.pairs, err = splitObject(s.buf, s.pairs[:0]); err != nil {
		return nil, err
	}
	line = append(line[:at], '{')
	for _, c := range o.chosen {
		value, ok := find(s.pairs, c.name)
		if !ok {
			continue
		}
		if len(line) > at+1 {
			line = append(line, ',')
		}
		line = append(append(line, c.key...), value...)
	}
	return append(line, '}'), nil
}

// chosenField is a field with its title as the key of an object, with colon.
type chosenField struct {
	name string
	key  []byte
}

func chosenFields(fields []Field) []chosenField {
	chosen := make([]chosenField, len(fields))
	for i, f := range fields {
		enc := newEncoder().(*encoder)
		_ = enc.json.Encode(f.Title) // text can always be encoded
		key := append(bytes.TrimSuffix(enc.dst, []byte("\n")), ':')
		chosen[i] = chosenField{name: f.Name, key: key}
	}
	return chosen
}
