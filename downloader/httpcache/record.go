package httpcache

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
)

// A record holds the responses of one key: the magic, a byte that says whether
// the rest is compressed, the CRC-32C of the rest, and the rest. That is the
// responses behind each other, each a row of numbers and texts; a text has its
// length in front.
const (
	magic     = "skeincache1"
	plain     = byte(0)
	zipped    = byte(1)
	headBytes = len(magic) + 1 + 4
)

// errDamaged is why a record can not be read.
var errDamaged = errors.New("the record is damaged")

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// encode returns the record of some responses.
func encode(all []*Stored, compress bool) ([]byte, error) {
	record := make([]byte, headBytes, headBytes+len(all)<<10+bodies(all)) // with room for usual headers
	for _, s := range all {
		record = s.append(record)
	}
	kind := plain
	if compress {
		b := bytes.NewBuffer(make([]byte, headBytes))
		w := gzip.NewWriter(b)
		_, err := w.Write(record[headBytes:])
		if err = errors.Join(err, w.Close()); err != nil {
			return nil, fmt.Errorf("compress: %w", err)
		}
		kind, record = zipped, b.Bytes()
	}
	record[copy(record, magic)] = kind
	binary.BigEndian.PutUint32(record[headBytes-4:], checksum(record[headBytes:]))
	return record, nil
}

// bodies returns the length of all bodies, in bytes.
func bodies(all []*Stored) int {
	n := 0
	for _, s := range all {
		n += len(s.Body)
	}
	return n
}

// decode returns the responses of a record. Their bodies are parts of it, or of
// what readAll returns of one that is compressed.
func decode(record []byte, readAll func(io.Reader) ([]byte, error)) ([]*Stored, error) {
	if len(record) < headBytes || string(record[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as one", errDamaged)
	}
	kind, sum, rest := record[len(magic)], binary.BigEndian.Uint32(record[headBytes-4:]), record[headBytes:]
	if checksum(rest) != sum || kind > zipped {
		return nil, fmt.Errorf("%w: its checksum is wrong", errDamaged)
	}
	if kind == zipped {
		r, err := gzip.NewReader(bytes.NewReader(rest))
		if err == nil {
			rest, err = readAll(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	var all []*Stored
	for d := (decoder{rest: rest}); len(d.rest) > 0; {
		s := d.stored()
		if d.bad {
			return nil, fmt.Errorf("%w: a length in it is wrong", errDamaged)
		}
		all = append(all, s)
	}
	return all, nil
}

// append appends s to a record. Maps go in the order of their keys.
func (s *Stored) append(b []byte) []byte {
	b = appendText(b, s.URL)
	b = binary.AppendUvarint(b, uint64(s.Status))
	b = appendText(b, s.Proto)
	b = binary.AppendVarint(b, s.Requested.UnixNano())
	b = binary.AppendVarint(b, s.Received.UnixNano())
	b = appendTexts(b, s.Flags)
	b = binary.AppendUvarint(b, uint64(len(s.Header)))
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		b = appendTexts(appendText(b, name), s.Header[name])
	}
	b = binary.AppendUvarint(b, uint64(len(s.varied)))
	for _, name := range slices.Sorted(maps.Keys(s.varied)) {
		b = appendText(appendText(b, name), s.varied[name])
	}
	return appendText(b, s.Body)
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, t := range texts {
		b = appendText(b, t)
	}
	return b
}

// decoder reads a record. Once something is wrong it reads nothing but zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) stored() *Stored {
	s := &Stored{URL: d.text(), Status: int(d.number()), Proto: d.text(), Requested: d.time(), Received: d.time(), Flags: d.texts()}
	s.Header = http.Header{}
	for range d.number() {
		name := d.text()
		if s.Header[name] = d.texts(); d.bad {
			return nil
		}
	}
	s.varied = map[string]string{}
	for range d.number() {
		name := d.text()
		if s.varied[name] = d.text(); d.bad {
			return nil
		}
	}
	s.Body = d.bytes()
	return s
}

// number reads a length, a count or a status. What counts bytes or texts can not
// be larger than what is left.
func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) time() time.Time {
	n, size := binary.Varint(d.rest)
	if size <= 0 || d.bad {
		d.bad = true
		return time.Time{}
	}
	d.rest = d.rest[size:]
	return time.Unix(0, n)
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.bad = true
	}
	if n == 0 || d.bad {
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) text() string { return string(d.bytes()) }

func (d *decoder) texts() []string {
	var all []string
	for range d.number() {
		if all = append(all, d.text()); d.bad {
			return nil
		}
	}
	return all
}
