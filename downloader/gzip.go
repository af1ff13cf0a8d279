package downloader

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

// wholeGzip reports whether a body is a whole gzip member, with the checksum
// that belongs to it. Of more than limit bytes nothing is said.
func wholeGzip(h http.Header, body []byte, limit int64) bool {
	if !strings.HasSuffix(strings.ToLower(h.Get("Content-Encoding")), "gzip") {
		return false
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return false
	}
	z.Multistream(false)
	var r io.Reader = z
	if limit > 0 {
		r = io.LimitReader(z, limit)
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return false
	}
	_, err = z.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}
