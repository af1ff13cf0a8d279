package downloader

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"syscall"

	"github.com/skeincrawl/skein/crawl"
)

// The names of Scrapy's exceptions, which are keys of the stats.
const (
	nameResolve     = "CannotResolveHostError"
	nameRefused     = "DownloadConnectionRefusedError"
	nameTimeout     = "DownloadTimeoutError"
	nameFailed      = "DownloadFailedError"
	nameCancelled   = "DownloadCancelledError"
	nameDataLoss    = "ResponseDataLossError"
	nameUnsupported = "UnsupportedURLSchemeError"
	nameDenied      = "AddressDeniedError" // ours
)

// TooLarge returns the error for a response that is larger than allowed. It is
// not tried again.
func TooLarge(err error) error {
	return &crawl.DownloadError{Kind: crawl.FailTooLarge, Name: nameCancelled, Err: err}
}

// Broken returns the error for a response that came whole but makes no sense.
// It is tried again.
func Broken(err error) error {
	return &crawl.DownloadError{Kind: crawl.FailConnection, Name: nameFailed, Err: err}
}

// Malformed returns the error for a response that is none by the rules. It is tried
// again.
func Malformed(err error) error {
	return &crawl.DownloadError{Kind: crawl.FailProtocol, Name: nameFailed, Err: err}
}

func unsupported(err error) error {
	return &crawl.DownloadError{Kind: crawl.FailUnsupported, Name: nameUnsupported, Err: err}
}

func dataLoss(err error) error {
	return &crawl.DownloadError{Kind: crawl.FailDataLoss, Name: nameDataLoss, Err: err}
}

// denied returns the error for an address that must not be connected to.
func denied(err error) error {
	return &crawl.DownloadError{Kind: crawl.FailDenied, Name: nameDenied, Err: err}
}

// ErrorName returns the name under which the stats count an error of a fetch:
// that of Scrapy's exception, else the Go type.
func ErrorName(err error) string {
	var de *crawl.DownloadError
	var ig *crawl.IgnoreError
	switch {
	case errors.As(err, &de):
		return de.Name
	case errors.As(err, &ig):
		return "IgnoreRequest"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}

// wsaRefused is Windows' "connection refused"; no other system has this number.
const wsaRefused = syscall.Errno(10061)

// classify names an error of a connection, or of net/http.
func classify(err error) error {
	if refusal := (*crawl.DownloadError)(nil); errors.As(err, &refusal) {
		return refusal
	}
	kind, name := crawl.FailConnection, nameFailed
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		kind, name = crawl.FailDNS, nameResolve
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, wsaRefused):
		kind, name = crawl.FailRefused, nameRefused
	case errors.As(err, &timeout) && timeout.Timeout():
		kind, name = crawl.FailTimeout, nameTimeout
	case isTLS(err):
		kind = crawl.FailTLS
	case isProtocol(err):
		kind = crawl.FailProtocol
	}
	return &crawl.DownloadError{Kind: kind, Name: name, Err: err}
}

// isProtocol reports whether what came was no response. net/http has no types for
// most of that, only these texts.
func isProtocol(err error) bool {
	if wrong := textproto.ProtocolError(""); errors.As(err, &wrong) {
		return true
	}
	text := err.Error()
	return slices.ContainsFunc([]string{
		"malformed HTTP ", "bad Content-Length", "unsupported transfer encoding", "response headers exceeded", "chunk length", "multiple Content-Length",
		"malformed chunked encoding", "PROTOCOL_ERROR", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR",
	}, func(part string) bool { return strings.Contains(text, part) })
}

// isTLS reports whether the two sides could not agree on a trusted connection,
// which another try would not change.
func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") { // so crypto/tls marks alerts
		return true
	}
	return errors.As(err, &certificate) || errors.As(err, &record)
}

// errTimeout is the cause of a fetch that took longer than it may.
var errTimeout = errors.New("download timeout")

// failure turns what ended a fetch into the error for its caller. The end of
// the caller's context comes first, then the timeout: both show up as all kinds
// of errors further down.
func (f *fetch) failure(err error) error {
	if f.caller.Err() != nil {
		return fmt.Errorf("download %v: %w", f.r, context.Cause(f.caller))
	}
	if errors.Is(context.Cause(f.ctx), errTimeout) {
		text := fmt.Sprintf("Getting %s took longer than %g seconds.", f.r.URL, f.timeout.Seconds())
		return &crawl.DownloadError{Kind: crawl.FailTimeout, Name: nameTimeout, Err: errors.New(text)}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && f.reading {
		return dataLoss(err)
	}
	return classify(err)
}
