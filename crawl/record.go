package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// A Record is an item whose fields are known only at run time, in order.
type Record []Field

// A Field is one field of a [Record].
type Field struct {
	Name  string
	Value any
}

// MarshalJSON returns the record as an object, its fields in their order.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil) }

// AppendJSON appends the record as MarshalJSON returns it.
func (r Record) AppendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, '{')
	for i, f := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, f.Name), ':')
		switch v := f.Value.(type) {
		case string:
			dst = appendString(dst, v)
		case int:
			dst = strconv.AppendInt(dst, int64(v), 10)
		case nil:
			dst = append(dst, "null"...)
		default:
			var err error
			if dst, err = appendJSON(dst, v); err != nil {
				return dst, fmt.Errorf("field %s: %w", f.Name, err)
			}
		}
	}
	return append(dst, '}'), nil
}

// appendJSON appends a value without the escapes that HTML would need.
func appendJSON(dst []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}
