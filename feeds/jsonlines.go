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

// NewJSONLines returns the exporter of JSON Lines (https://jsonlines.org): one
// object a line, UTF-8. Neither letters beyond ASCII nor what HTML treats as
// special are escaped; times are ISO 8601.
//
// Items are structs, maps, pointers to them, and types that render themselves
// as an object: as JSON by [json.Marshaler], or, without its cost, by
//
//	AppendJSON(dst []byte) ([]byte, error)
func NewJSONLines() (Exporter, error) {
	return &jsonLines{encoders: sync.Pool{New: newEncoder}}, nil
}

type jsonLines struct{ encoders sync.Pool }

var _ Exporter = (*jsonLines)(nil)

type jsonAppender interface {
	AppendJSON(dst []byte) ([]byte, error)
}

// AppendItem appends the item and a line feed.
func (e *jsonLines) AppendItem(dst []byte, item any) ([]byte, error) {
	line, err := e.appendJSON(dst, item)
	if err != nil {
		return dst, fmt.Errorf("item of type %T as JSON: %w", item, err)
	}
	return line, nil
}

func (e *jsonLines) appendJSON(dst []byte, item any) ([]byte, error) {
	switch v := item.(type) {
	case crawl.Record:
		line, err := v.AppendJSON(dst)
		return append(line, '\n'), err
	case jsonAppender:
		if p := reflect.ValueOf(item); p.Kind() == reflect.Pointer && p.IsNil() {
			return nil, errNoObject
		}
		line, err := v.AppendJSON(dst)
		if err != nil {
			return nil, err
		}
		return append(line, '\n'), checkLine(line[len(dst):])
	}
	return e.marshal(dst, item)
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

func (e *jsonLines) marshal(dst []byte, item any) ([]byte, error) {
	enc := e.encoders.Get().(*encoder)
	enc.dst = dst
	err := enc.json.Encode(item)
	line := enc.dst
	enc.dst = nil
	e.encoders.Put(enc)
	switch {
	case err != nil:
		return nil, err
	case line[len(dst)] != '{':
		return nil, errNoObject
	}
	return line, nil
}
