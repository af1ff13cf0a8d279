package middleware

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/skeincrawl/skein/downloader"
)

// A coding undoes one content coding. It keeps its decoders, which are large,
// for the next response. It is safe for concurrent use.
type coding struct {
	magic string // what every body begins with, if that is known
	open  func() (stream, error)
	pool  sync.Pool // of stream
}

// A stream is a decoder that can be used again.
type stream interface {
	io.Reader
	// begin begins with another body. The error is for one that is not in the
	// coding from its first bytes on.
	begin(body []byte) error
}

// maxWindow bounds the memory of a zstd decoder, as browsers do (RFC 9659).
const maxWindow = 8 << 20

// newCodings returns the codings by the names of their IANA registry, and the
// old name of gzip.
func newCodings() map[string]*coding {
	gz := &coding{magic: "\x1f\x8b", open: func() (stream, error) { return &gzipStream{}, nil }}
	return map[string]*coding{
		"gzip":    gz,
		"x-gzip":  gz,
		"deflate": {open: func() (stream, error) { return &deflateStream{raw: flate.NewReader(nil)}, nil }},
		"br":      {open: func() (stream, error) { return &brotliStream{}, nil }},
		"zstd":    {open: newZstdStream},
	}
}

// read decodes a body as far as it can and as limit allows.
func (c *coding) read(ctx context.Context, buffers *downloader.Buffers, encoded []byte, limit int64) ([]byte, error) {
	s, ok := c.pool.Get().(stream)
	if !ok {
		var err error
		if s, err = c.open(); err != nil {
			return nil, err
		}
	}
	defer c.pool.Put(s)
	if err := s.begin(encoded); err != nil {
		return nil, err
	}
	return buffers.Read(ctx, s, -1, limit)
}

// gzipStream reads the first member of a gzip file.
type gzipStream struct{ gzip.Reader }

func (s *gzipStream) begin(body []byte) error {
	if err := s.Reset(bytes.NewReader(body)); err != nil {
		return err
	}
	s.Multistream(false)
	return nil
}

// deflateStream reads what servers send as deflate: the zlib format, as RFC 9110
// §8.4.1.2 has it, or the bare deflate format, as many understood it.
type deflateStream struct {
	io.Reader
	zlib io.ReadCloser // nil until the first zlib body
	raw  io.ReadCloser
}

func (s *deflateStream) begin(body []byte) (err error) {
	r := bytes.NewReader(body)
	switch {
	case !isZlib(body):
		s.Reader = s.raw
		return s.raw.(flate.Resetter).Reset(r, nil)
	case s.zlib == nil:
		s.zlib, err = zlib.NewReader(r)
	default:
		err = s.zlib.(zlib.Resetter).Reset(r, nil)
	}
	s.Reader = s.zlib
	return err
}

// isZlib reports whether a body has a zlib header (RFC 1950 §2.2). In the bare
// format its first bits would stand for what no encoder writes.
func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && (int(b[0])<<8|int(b[1]))%31 == 0
}

type brotliStream struct{ brotli.Reader }

func (s *brotliStream) begin(body []byte) error { return s.Reset(bytes.NewReader(body)) }

// Read takes what follows the end of a stream for the junk that it is.
func (s *brotliStream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err.Error() == "brotli: excessive input" { // a value that the package keeps to itself
		err = io.EOF
	}
	return n, err
}

type zstdStream struct{ *zstd.Decoder }

func newZstdStream() (stream, error) {
	// One at a time: then the decoder has no goroutines that somebody has to end.
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	return &zstdStream{z}, err
}

func (s *zstdStream) begin(body []byte) error { return s.Reset(bytes.NewReader(body)) }
