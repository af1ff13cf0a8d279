package feeds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// NewJSON returns the exporter of one JSON array of all items, which are those
// of [NewJSONLines]. With an indent of 0 each item is a line; with more it is
// laid out from the first column on, as Scrapy does it.
func NewJSON(o ExporterOptions) (Exporter, error) {
	e := &jsonArray{objects: newObjects(o.Fields), head: "[\n", separator: ",\n", tail: "\n]\n"}
	if o.Indent > 0 {
		e.indent = strings.Repeat(" ", o.Indent)
	}
	if o.Indent == Compact {
		e.head, e.separator, e.tail = "[", ",", "]"
	}
	return e, nil
}

type jsonArray struct {
	objects               *objects
	indent                string
	head, separator, tail string
}

var (
	_ Exporter  = (*jsonArray)(nil)
	_ Framer    = (*jsonArray)(nil)
	_ Continuer = (*jsonArray)(nil)
)

// AppendItem appends the item alone.
func (e *jsonArray) AppendItem(dst []byte, item any) ([]byte, error) {
	if e.indent == "" {
		return e.objects.append(dst, item, "JSON")
	}
	line, err := e.objects.append(nil, item, "JSON")
	if err != nil {
		return dst, err
	}
	b := bytes.NewBuffer(dst)
	if err := json.Indent(b, line, "", e.indent); err != nil {
		return dst, fmt.Errorf("item of type %T as JSON: %w", item, err)
	}
	return b.Bytes(), nil
}

// Head returns the opening bracket.
func (e *jsonArray) Head() []byte { return []byte(e.head) }

// Separator returns a comma.
func (e *jsonArray) Separator() []byte { return []byte(e.separator) }

// Tail returns the closing bracket.
func (e *jsonArray) Tail() []byte { return []byte(e.tail) }

// Continue returns where the last object of an array ends.
func (e *jsonArray) Continue(r io.ReaderAt, size int64) (int64, error) {
	first, opening, err := firstText(r, size)
	if err != nil || opening == 0 { // nothing but white space
		return 0, err
	}
	end, closing, err := lastText(r, size)
	if err != nil {
		return 0, err
	}
	if opening != '[' || closing != ']' || first == end {
		return 0, fmt.Errorf("it does not hold a whole JSON array, to which items could be added: mend it, replace it with -O, or take another file or the format jsonl")
	}
	last, c, err := lastText(r, end)
	switch {
	case err != nil:
		return 0, err
	case last == first:
		return 0, nil
	case c != '}':
		return 0, fmt.Errorf("the JSON array in it does not end with an object, so it is none of items: replace it with -O or take another file")
	}
	return last + 1, nil
}

// firstText finds the first byte that is no white space; 0 stands for none.
func firstText(r io.ReaderAt, size int64) (at int64, c byte, err error) {
	var buf [512]byte
	for at < size {
		part := buf[:min(int64(len(buf)), size-at)]
		if err := readPart(r, part, at); err != nil {
			return 0, 0, err
		}
		if text := bytes.TrimLeft(part, " \t\r\n"); len(text) > 0 {
			return at + int64(len(part)-len(text)), text[0], nil
		}
		at += int64(len(part))
	}
	return 0, 0, nil
}

// lastText finds the last such byte before an offset.
func lastText(r io.ReaderAt, before int64) (at int64, c byte, err error) {
	var buf [512]byte
	for before > 0 {
		part := buf[:min(int64(len(buf)), before)]
		before -= int64(len(part))
		if err := readPart(r, part, before); err != nil {
			return 0, 0, err
		}
		if text := bytes.TrimRight(part, " \t\r\n"); len(text) > 0 {
			return before + int64(len(text)-1), text[len(text)-1], nil
		}
	}
	return 0, 0, nil
}

func readPart(r io.ReaderAt, part []byte, at int64) error {
	if n, err := r.ReadAt(part, at); n < len(part) {
		return fmt.Errorf("read it at byte %d: %w", at+int64(n), err)
	}
	return nil
}
