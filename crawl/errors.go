package crawl

import (
	"errors"
	"fmt"
)

// A FailureKind is a coarse reason of a failure, for errbacks that treat kinds
// of failure differently.
type FailureKind string

// The kinds of failure.
const (
	FailStatus      FailureKind = "status"      // a response that the callback does not handle
	FailIgnored     FailureKind = "ignored"     // a component refused the request: offsite, too many redirects
	FailTimeout     FailureKind = "timeout"     // DOWNLOAD_TIMEOUT passed
	FailDNS         FailureKind = "dns"         // the host name has no address
	FailRefused     FailureKind = "refused"     // the connection was refused
	FailConnection  FailureKind = "connection"  // the connection broke, or was reset
	FailProtocol    FailureKind = "protocol"    // what came is no response by the rules
	FailTLS         FailureKind = "tls"         // no trusted connection
	FailDenied      FailureKind = "denied"      // DENY_PRIVATE_NETWORKS forbids the address
	FailTooLarge    FailureKind = "too large"   // the body is larger than allowed
	FailDataLoss    FailureKind = "data loss"   // the body is shorter than announced
	FailUnsupported FailureKind = "unsupported" // no handler for the scheme, or an unusable URL
	FailOther       FailureKind = "other"
)

// A Failure is why a request got no usable response.
type Failure struct {
	Request  *Request
	Response *Response // nil if there was none
	Err      error     // never nil
	Kind     FailureKind
}

// Error returns the message of the cause.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A DownloadError is a failed download. Name is the name of Scrapy's exception
// for it, which is also its key in the stats, such as DownloadTimeoutError.
type DownloadError struct {
	Kind FailureKind
	Name string
	Err  error
}

// Error returns the message of the cause.
func (e *DownloadError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DownloadError) Unwrap() error { return e.Err }

// KindOf returns the kind of failure that an error of a [Fetcher] stands for.
func KindOf(err error) FailureKind {
	var de *DownloadError
	var ig *IgnoreError
	switch {
	case errors.As(err, &de):
		return de.Kind
	case errors.As(err, &ig):
		return FailIgnored
	}
	return FailOther
}

// ErrStopped is the cause of a download or a callback that was cut because the
// crawl stops. The request goes back to its old place in the queue.
var ErrStopped = errors.New("the crawl is stopping")

// A RescheduleError replaces the request being handled by another.
type RescheduleError struct{ Request *Request }

// Error names the new request.
func (e *RescheduleError) Error() string { return "rescheduled as " + e.Request.String() }

// Reschedule returns the error with which a downloader middleware hands a new
// request to the scheduler in place of the present one, for example a redirect.
func Reschedule(r *Request) error { return &RescheduleError{Request: r} }

// A RetryError asks for another try of a request.
type RetryError struct {
	Request *Request
	Reason  string
}

// Error returns the reason.
func (e *RetryError) Error() string {
	return fmt.Sprintf("retry %v: %s", e.Request, e.Reason)
}

// Retry returns the error with which a callback, an errback or a downloader
// middleware asks for another try of r, within the limits of RETRY_TIMES and
// with the stats and log lines of a retry.
func Retry(r *Request, reason string) error { return &RetryError{Request: r, Reason: reason} }

// An IgnoreError refuses a request without an error in the log.
type IgnoreError struct{ Reason string }

// Error returns the reason.
func (e *IgnoreError) Error() string { return e.Reason }

// Ignore returns the error with which a component refuses a request. Its
// errback is called; without one only the reason's own log line tells of it.
func Ignore(reason string) error { return &IgnoreError{Reason: reason} }

// A DropError drops an item.
type DropError struct{ Reason string }

// Error returns the reason.
func (e *DropError) Error() string { return e.Reason }

// Drop returns the error with which an item drops itself: from its MarshalJSON or
// AppendJSON, for example because a field is missing.
func Drop(reason string) error { return &DropError{Reason: reason} }

// A CloseError ends the crawl.
type CloseError struct{ Reason string }

// Error returns the reason.
func (e *CloseError) Error() string { return "close spider: " + e.Reason }

// CloseSpider returns the error with which a callback or a handler
// of a signal ends the crawl in good order. The reason defaults to "cancelled".
func CloseSpider(reason string) error {
	if reason == "" {
		reason = "cancelled"
	}
	return &CloseError{Reason: reason}
}

// An UndoError undoes a crawl step.
type UndoError struct{ Err error }

// Error returns the message of the cause.
func (e *UndoError) Error() string { return "undo: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UndoError) Unwrap() error { return e.Err }

// Undo returns the error with which a callback undoes the whole
// step, for example because a database is down: nothing of it is kept and its
// request goes back to its old place in the queue.
func Undo(err error) error { return &UndoError{Err: err} }
