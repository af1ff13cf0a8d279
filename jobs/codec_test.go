package jobs

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
)

func sampleRecord() *Record {
	r := &Record{Slot: "example.com", Priority: math.MinInt64, NotBefore: 1 << 41, Flags: 0xA5, Body: []byte("body")}
	for i := range r.Fingerprint {
		r.Fingerprint[i] = byte(i)
	}
	return r
}

func TestOperationsSurviveEncoding(t *testing.T) {
	t.Parallel()
	rec := sampleRecord()
	push := Op{
		Kind: OpPush, Addr: 7, Priority: rec.Priority, NotBefore: rec.NotBefore, Flags: rec.Flags,
		Fingerprint: rec.Fingerprint, Slot: []byte(rec.Slot), BodyLen: len(rec.Body),
	}
	provisional := push
	provisional.Kind, provisional.Owner = OpProvisional, makeAddr(3, 300)
	mark := []feedMark{{id: 1, length: 1 << 40, hasCRC: true, crc: 0xDEADBEEF}, {id: 2}}
	for name, c := range map[string]struct {
		bytes []byte
		want  op
	}{
		"push":        {appendRecord([]byte{byte(OpPush)}, 7, rec), op{Op: push}},
		"provisional": {appendRecord(appendAddr([]byte{byte(OpProvisional)}, makeAddr(3, 300)), 7, rec), op{Op: provisional}},
		"ack":         {appendAddr([]byte{byte(OpAck)}, makeAddr(9, 1<<31)), op{Op: Op{Kind: OpAck, Addr: makeAddr(9, 1<<31)}}},
		"adopt":       {appendAddr([]byte{byte(OpAdopt)}, 1), op{Op: Op{Kind: OpAdopt, Owner: 1}}},
		"seen":        {append([]byte{byte(OpSeen)}, rec.Fingerprint[:]...), op{Op: Op{Kind: OpSeen, Fingerprint: rec.Fingerprint}}},
		"meta": {
			appendBytes(appendString([]byte{byte(OpMeta)}, "k"), []byte("v")),
			op{Op: Op{Kind: OpMeta, Key: []byte("k"), Value: []byte("v")}},
		},
		"round":    {appendRound(nil, 300), op{Op: Op{Kind: OpRound, Round: 300}}},
		"feed":     {appendFeed(nil, 2, 1<<40, 9), op{Op: Op{Kind: opFeed}, id: 2, length: 1 << 40, crc: 9}},
		"name":     {appendFeedName(nil, 2, 5, "n"), op{Op: Op{Kind: opFeedName}, id: 2, length: 5, name: []byte("n")}},
		"mark":     {appendMark(nil, 1<<33, mark), op{Op: Op{Kind: opMark}, durable: 1 << 33, marks: mark}},
		"close":    {appendClose(nil, []feedMark{{id: 1, length: 5}}), op{Op: Op{Kind: opClose}, marks: []feedMark{{id: 1, length: 5}}}},
		"header":   {appendHeader(nil, 2, 3, 1<<32), op{Op: Op{Kind: opHeader}, version: formatVersion, segment: 2, gen: 3, firstSeq: 1 << 32}},
		"release":  {appendAddr([]byte{byte(OpRelease)}, 9), op{Op: Op{Kind: OpRelease, Addr: 9}}},
		"tally":    {append(appendAddr([]byte{byte(OpTally)}, 9), 5), op{Op: Op{Kind: OpTally, Addr: 9, N: 5}}},
		"unseen":   {append([]byte{byte(OpUnseen)}, make([]byte, 20)...), op{Op: Op{Kind: OpUnseen}}},
		"segment":  {[]byte{byte(opSegment), 7}, op{Op: Op{Kind: opSegment}, segment: 7}},
		"reopened": {[]byte{byte(opReopened)}, op{Op: Op{Kind: opReopened}}},
		"finished": {[]byte{byte(opFinished)}, op{Op: Op{Kind: opFinished}}},
		"end":      {[]byte{byte(opEnd)}, op{Op: Op{Kind: opEnd}}},
		"unknown":  {[]byte{0xFE, 2, 1, 1}, op{Op: Op{Kind: 0xFE}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got op
			d := decoder{b: c.bytes}
			if ok, err := d.next(&got); !ok || err != nil {
				t.Fatalf("next: %v, %v", ok, err)
			}
			if ok, err := d.next(new(op)); ok || err != nil {
				t.Fatalf("bytes are left: %v, %v", ok, err)
			}
			got.bodyAt, got.bodyCRC, got.body = 0, 0, nil
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
			for n := 1; n < len(c.bytes); n++ {
				short := decoder{b: c.bytes[:n]}
				if ok, err := short.next(new(op)); ok || !errors.Is(err, errMalformed) {
					t.Errorf("first %d bytes: got %v, %v, want an error", n, ok, err)
				}
			}
		})
	}
}

func TestUnknownOperationWithoutSkipBit(t *testing.T) {
	t.Parallel()
	d := decoder{b: []byte{0x7E, 0}}
	var unknown unknownOpError
	if _, err := d.next(new(op)); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "0x7e") {
		t.Errorf("got %v, want an error that names 0x7e", err)
	}
}

func TestFrameReader(t *testing.T) {
	t.Parallel()
	var file []byte
	sizes := []int{1, 5, readChunk - 17, 3 * readChunk, 40, readChunk}
	for i, n := range sizes {
		file = appendFrame(file, uint64(i+1), bytes.Repeat([]byte{byte(i)}, n))
	}
	var r frameReader
	r.reset(bytes.NewReader(file), int64(len(file)), 0)
	for i, n := range sizes {
		seq, ops, err := r.next()
		if err != nil || seq != uint64(i+1) || len(ops) != n || ops[n-1] != byte(i) {
			t.Fatalf("frame %d: got number %d, %d bytes, %v, want %d bytes", i, seq, len(ops), err, n)
		}
	}
	if _, _, err := r.next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: got %v, want EOF", err)
	}
}

// TestFrameChecksum covers scrapy#845, a length beyond the end: every bit of a frame is covered, a zero length and an
// area of zeros are no frame.
func TestFrameChecksum(t *testing.T) {
	t.Parallel()
	frame := appendFrame(nil, 77, []byte("operations"))
	try := func(b []byte) error {
		var r frameReader
		r.reset(bytes.NewReader(b), int64(len(b)), 0)
		_, _, err := r.next()
		return err
	}
	for bit := range len(frame) * 8 {
		b := bytes.Clone(frame)
		b[bit/8] ^= 1 << (bit % 8)
		if err := try(b); !errors.Is(err, errBadFrame) {
			t.Errorf("bit %d flipped: got %v, want errBadFrame", bit, err)
		}
	}
	for n := 1; n < len(frame); n++ {
		if err := try(frame[:n]); !errors.Is(err, errBadFrame) {
			t.Errorf("first %d bytes: got %v, want errBadFrame", n, err)
		}
	}
	if err := try(make([]byte, 100)); !errors.Is(err, errBadFrame) {
		t.Errorf("zeros: got %v, want errBadFrame", err)
	}
}

func TestSequenceNumbers(t *testing.T) {
	t.Parallel()
	const run = 1 << 32
	for _, c := range []struct {
		last, seq uint64
		want      bool
	}{
		{0, run, true},
		{run, run + 1, true},
		{run + 1, run + 1, false},
		{run + 1, run + 3, false},
		{run + 9, 2 * run, true},
		{run + 9, 5 * run, true},
		{2 * run, run + 10, false},
		{2*run + 3, 2 * run, false},
	} {
		if got := follows(c.last, c.seq); got != c.want {
			t.Errorf("follows(%#x, %#x): got %v, want %v", c.last, c.seq, got, c.want)
		}
	}
}

// FuzzFrameReader: no bytes make the reader panic, read twice, or go beyond
// the file.
func FuzzFrameReader(f *testing.F) {
	valid := appendFrame(nil, 1<<32, appendHeader(nil, 1, 1, 1<<32))
	valid = appendFrame(valid, 1<<32+1, appendRecord([]byte{byte(OpPush)}, 0, sampleRecord()))
	valid = appendFrame(valid, 1<<32+2, appendMark(nil, 1<<32, []feedMark{{id: 1}}))
	f.Add(valid)
	f.Add(valid[:len(valid)-3])
	f.Add(append(bytes.Clone(valid[:60]), valid[80:]...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r frameReader
		r.reset(bytes.NewReader(b), int64(len(b)), 0)
		for {
			at := r.off
			_, ops, err := r.next()
			if err != nil {
				if r.off != at {
					t.Fatalf("moved from %d to %d on an error", at, r.off)
				}
				return
			}
			if r.off != at+frameHead+int64(len(ops)) || r.off > int64(len(b)) {
				t.Fatalf("from %d to %d with %d bytes", at, r.off, len(ops))
			}
			d := decoder{b: ops}
			for o := new(op); ; {
				if ok, err := d.next(o); !ok || err != nil {
					break
				}
			}
		}
	})
}
