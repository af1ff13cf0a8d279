package feeds

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// NewCSV returns the exporter of comma-separated values (RFC 4180, UTF-8): a
// header and then one record an item, which are those of [NewJSONLines].
//
// The columns never change within a feed. They are the first of these that
// there is: the header of a feed that is continued, the fields of the options,
// the fields of the first item's struct type, the fields of the first item. A
// field without a column is dropped, a column without a field is empty.
//
// Cells are as Scrapy writes them: texts as they are, True and False, nothing
// for null, lists joined by commas; but times are ISO 8601, and objects, and
// lists with lists or objects in them, are JSON.
func NewCSV(o ExporterOptions) (Exporter, error) {
	e := &csvExporter{objects: newObjects(nil), fields: o.Fields, dropped: o.Dropped}
	if len(o.Fields) > 0 {
		e.columns.Store(newColumns(o.Fields))
	}
	return e, nil
}

type csvExporter struct {
	objects *objects
	fields  []Field
	dropped func([]string)

	mu      sync.Mutex // to set the columns
	columns atomic.Pointer[columns]
}

var (
	_ Exporter = (*csvExporter)(nil)
	_ Framer   = (*csvExporter)(nil)
	_ Opener   = (*csvExporter)(nil)
)

// AppendItem appends the record of the item. The first item may set the columns.
func (e *csvExporter) AppendItem(dst []byte, item any) ([]byte, error) {
	s := e.objects.scratch.Get().(*scratch)
	defer e.objects.scratch.Put(s)
	var err error
	if s.buf, err = e.objects.append(s.buf[:0], item, "CSV"); err != nil {
		return dst, err
	}
	if s.pairs, err = splitObject(s.buf, s.pairs[:0]); err != nil {
		return dst, fmt.Errorf("item of type %T as CSV: %w", item, err)
	}
	c, err := e.columnsFor(item, s.pairs)
	if err != nil {
		return dst, fmt.Errorf("item of type %T as CSV: %w", item, err)
	}
	out, err := e.appendRecord(dst, c, s)
	if err != nil {
		return dst, fmt.Errorf("item of type %T as CSV: %w", item, err)
	}
	return out, nil
}

// columnsFor returns the columns, which this item sets if there are none.
func (e *csvExporter) columnsFor(item any, pairs []pair) (*columns, error) {
	if c := e.columns.Load(); c != nil {
		return c, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.columns.Load(); c != nil {
		return c, nil
	}
	names := structFields(item)
	for _, p := range pairs {
		if !slices.Contains(names, string(p.key)) {
			names = append(names, string(p.key))
		}
	}
	if len(names) == 0 {
		return nil, errors.New("it has no fields, so it can not be the first item, which sets the columns")
	}
	c := newColumns(untitled(names))
	e.columns.Store(c)
	return c, nil
}

func (e *csvExporter) appendRecord(dst []byte, c *columns, s *scratch) ([]byte, error) {
	s.cells = append(s.cells[:0], make([][]byte, len(c.index))...)
	var late []string
	for _, p := range s.pairs {
		if i, ok := c.index[string(p.key)]; ok {
			s.cells[i] = p.value
		} else if len(e.fields) == 0 {
			late = append(late, string(p.key))
		}
	}
	var err error
	for i, value := range s.cells {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendCell(dst, value, len(s.cells) == 1); err != nil {
			return nil, err
		}
	}
	if late != nil && e.dropped != nil {
		e.dropped(late)
	}
	return append(dst, "\r\n"...), nil
}

// Head returns the header, or nothing before there are columns.
func (e *csvExporter) Head() []byte {
	if c := e.columns.Load(); c != nil {
		return c.head
	}
	return nil
}

// Separator returns nothing: each record has its end.
func (e *csvExporter) Separator() []byte { return nil }

// Tail returns nothing.
func (e *csvExporter) Tail() []byte { return nil }

// Open takes the columns from the header.
func (e *csvExporter) Open(r io.ReaderAt, size int64) error {
	var last [1]byte
	if err := readPart(r, last[:], size-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		return errors.New("its last line has no end: add one, replace it with -O or take another file")
	}
	titles, err := csv.NewReader(io.NewSectionReader(r, 0, size)).Read()
	if err != nil {
		return fmt.Errorf("its header can not be read: %w", err)
	}
	titles[0] = strings.TrimPrefix(titles[0], "\ufeff") // spreadsheets write a mark
	if len(e.fields) == 0 {
		e.columns.Store(newColumns(untitled(titles)))
		return nil
	}
	if want := titlesOf(e.fields); !slices.Equal(titles, want) {
		return fmt.Errorf("its header is %s, but the fields to export are %s: take another file, or replace it with -O",
			strings.Join(titles, ","), strings.Join(want, ","))
	}
	return nil
}

// columns are the columns of a feed.
type columns struct {
	index map[string]int // by the name of the field
	head  []byte
}

func newColumns(fields []Field) *columns {
	c := &columns{index: make(map[string]int, len(fields))}
	for _, f := range fields {
		if _, twice := c.index[f.Name]; twice {
			continue
		}
		if len(c.index) > 0 {
			c.head = append(c.head, ',')
		}
		c.index[f.Name] = len(c.index)
		c.head = appendQuoted(c.head, []byte(f.Title), len(fields) == 1)
	}
	c.head = append(c.head, "\r\n"...)
	return c
}

func untitled(names []string) []Field {
	fields := make([]Field, len(names))
	for i, name := range names {
		fields[i] = Field{Name: name, Title: name}
	}
	return fields
}

func titlesOf(fields []Field) []string {
	titles := make([]string, len(fields))
	for i, f := range fields {
		titles[i] = f.Title
	}
	return titles
}

// appendQuoted appends a cell, in quotes if it needs them. The only cell of a
// record must not leave an empty line, which readers pass over.
func appendQuoted(dst, text []byte, only bool) []byte {
	if !bytes.ContainsAny(text, ",\"\r\n") && (len(text) > 0 || !only) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(append(dst, text...), '"')
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
}
