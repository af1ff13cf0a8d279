package downloader

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// Data is the download handler for data URLs (RFC 2397): the URL is the response.
// Its media type defaults to text/plain;charset=US-ASCII. Base64 may have white
// space in it and lack its padding, as in browsers. The zero value is ready, and
// safe for concurrent use.
type Data struct{}

var _ Local = Data{}

// Local says that no request goes over the wire.
func (Data) Local() {}

// Fetch reads the URL of r. The error for one that is no data URL is a
// [crawl.DownloadError] of kind [crawl.FailUnsupported].
func (Data) Fetch(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
	u := weburl.TrimFragment(r.URL)
	mediaType, body, err := parseData(u)
	if err != nil {
		return nil, unsupported(fmt.Errorf("read %.200v: %w", r, err))
	}
	return &crawl.Response{Request: r, URL: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {mediaType}}, Body: body}, nil
}

// parseData cuts a data URL into its media type and what it holds.
func parseData(u string) (mediaType string, body []byte, err error) {
	scheme, rest, _ := strings.Cut(u, ":")
	if !strings.EqualFold(scheme, "data") {
		return "", nil, errors.New("it is no data URL")
	}
	mediaType, data, ok := strings.Cut(rest, ",")
	if !ok {
		return "", nil, errors.New("a data URL needs a comma in front of its data")
	}
	body = unescape(data)
	mediaType, coded := cutBase64(strings.TrimSpace(mediaType))
	if coded {
		if body, err = forgivingBase64(body); err != nil {
			return "", nil, err
		}
	}
	switch {
	case mediaType == "":
		mediaType = "text/plain;charset=US-ASCII"
	case mediaType[0] == ';':
		mediaType = "text/plain" + mediaType
	}
	return mediaType, body, nil
}

// cutBase64 removes the mark of base64 from the end of a media type.
func cutBase64(mediaType string) (string, bool) {
	i := strings.LastIndexByte(mediaType, ';')
	if i < 0 || !strings.EqualFold(strings.TrimSpace(mediaType[i+1:]), "base64") {
		return mediaType, false
	}
	return strings.TrimSpace(mediaType[:i]), true
}

// forgivingBase64 decodes as browsers do (the Infra standard).
func forgivingBase64(data []byte) ([]byte, error) {
	s := strings.Join(strings.FieldsFunc(string(data), func(c rune) bool { return strings.ContainsRune(" \t\n\f\r", c) }), "")
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("decode base64: %w", err)
	}
	return b, nil
}

// unescape decodes the percent-escapes of a URL. What is none stays as it is.
func unescape(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i] == '%' {
			high, low := strings.IndexByte(hexDigits, s[i+1]|0x20), strings.IndexByte(hexDigits, s[i+2]|0x20)
			if high >= 0 && low >= 0 {
				b = append(b, byte(high<<4|low))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return b
}

// hexDigits are small letters; a digit is the same with the bit of small letters.
const hexDigits = "0123456789abcdef"
