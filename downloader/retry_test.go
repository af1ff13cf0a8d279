package downloader

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// tries calls f, which is one of the policy's methods, until it gives up.
func tries(r *crawl.Request, f func(*crawl.Request) (*crawl.Request, bool)) []*crawl.Request {
	var all []*crawl.Request
	for {
		next, ok := f(r)
		if !ok {
			return all
		}
		all = append(all, next)
		r = next
	}
}

func next(p *RetryPolicy, reason string) func(*crawl.Request) (*crawl.Request, bool) {
	return func(r *crawl.Request) (*crawl.Request, bool) { return p.Next(r, reason) }
}

// RTY-04, RTY-05, RTY-12, RTY-13.
func TestRetryPolicy(t *testing.T) {
	env, log := newEnv(t, nil)
	r := &crawl.Request{URL: "http://a.test/", Priority: 5, Trail: crawl.Trail{Start: true}}
	all := tries(r, next(NewRetryPolicy(env), StatusReason(503)))
	if len(all) != 2 {
		t.Fatalf("%d tries, want 2", len(all))
	}
	for i, n := range all {
		if n.Trail.Retries != i+1 || n.Priority != 4-i || !n.DontFilter || !n.Trail.Start {
			t.Errorf("try %d = %+v", i, n)
		}
	}
	if r.DontFilter || r.Trail.Retries != 0 {
		t.Errorf("the request was changed: %+v", r)
	}
	for key, want := range map[string]int64{"retry/count": 2, "retry/reason_count/503 Service Unavailable": 2, "retry/max_reached": 1} {
		if got := env.Stats.Count(key); got != want {
			t.Errorf("%s = %d, want %d", key, got, want)
		}
	}
	log.wants(t, `"level":"debug","logger":"retry","message":"Retrying <GET http://a.test/> (failed 1 times): 503 Service Unavailable"`,
		"Retrying <GET http://a.test/> (failed 2 times): 503 Service Unavailable",
		`"level":"error","logger":"retry","message":"Gave up retrying <GET http://a.test/> (failed 3 times): 503 Service Unavailable"`)

	if _, ok := NewRetryPolicy(env).Next(r, ""); !ok {
		t.Error("no retry without reason")
	}
	log.wants(t, "(failed 1 times): unspecified")
}

// RTY-02, RTY-03, RTY-08, RTY-09, RTY-11.
func TestRetryPolicyLimits(t *testing.T) {
	for _, tt := range []struct {
		name    string
		times   int
		options crawl.Options
		want    int
	}{
		{"RTY-08 setting 0", 0, crawl.Options{}, 0},
		{"RTY-08 request", 2, crawl.Options{NoRetry: true}, 0},
		{"RTY-09 more", 2, crawl.Options{MaxRetries: 3}, 3},
		{"RTY-09 less", 5, crawl.Options{MaxRetries: 4}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, _ := newEnv(t, map[string]any{"RETRY_TIMES": tt.times, "RETRY_PRIORITY_ADJUST": 2})
			all := tries(&crawl.Request{Options: tt.options}, next(NewRetryPolicy(env), "x"))
			if len(all) != tt.want {
				t.Errorf("%d tries, want %d", len(all), tt.want)
			}
			if n := len(all); n > 0 && all[n-1].Priority != 2*n { // RTY-11
				t.Errorf("priority = %d, want %d", all[n-1].Priority, 2*n)
			}
			if got, want := env.Stats.Count("retry/max_reached") == 0, tt.options.NoRetry; got != want {
				t.Errorf("not counted = %v, want %v", got, want)
			}
		})
	}
}

// RTY-14.
func TestRetryPolicyGiveUpLevel(t *testing.T) {
	for name, level := range map[string]string{"DEBUG": "debug", "INFO": "info", "WARNING": "warn", "30": "warn", "ERROR": "error", "CRITICAL": "fatal"} {
		env, log := newEnv(t, map[string]any{"RETRY_GIVE_UP_LOG_LEVEL": name, "RETRY_TIMES": 0})
		NewRetryPolicy(env).Next(&crawl.Request{}, "x")
		log.wants(t, fmt.Sprintf(`"level":%q`, level))
	}
}

// The wait before a retry is drawn from 0 to a time that doubles up to a maximum; a
// time of the request's own counts on.
func TestRetryPolicyBackoff(t *testing.T) {
	const base, most = 2 * time.Second, 10 * time.Second
	env, _ := newEnv(t, map[string]any{"RETRY_TIMES": 6, "RETRY_BACKOFF": "2", "RETRY_BACKOFF_MAX": "10s"})
	p := NewRetryPolicy(env)
	waits := func(r *crawl.Request, drawn float64) (all []time.Duration) {
		p.rand = func() float64 { return drawn }
		now := time.Now()
		for _, next := range tries(r, next(p, "x")) {
			d := time.Duration(0)
			if !next.NotBefore.IsZero() {
				d = next.NotBefore.Sub(now).Round(time.Second / 10)
			}
			all = append(all, d)
		}
		return all
	}
	for name, c := range map[string]struct {
		options crawl.Options
		drawn   float64
		want    []time.Duration
	}{
		"longest":          {crawl.Options{}, 1, []time.Duration{base, 2 * base, 4 * base, most, most, most}},
		"half":             {crawl.Options{}, .5, []time.Duration{base / 2, base, 2 * base, most / 2, most / 2, most / 2}},
		"of the request":   {crawl.Options{RetryBackoff: time.Second, MaxRetries: 2}, 1, []time.Duration{time.Second, 2 * time.Second}},
		"not this request": {crawl.Options{RetryBackoff: -1, MaxRetries: 2}, 1, []time.Duration{0, 0}},
	} {
		if got := waits(&crawl.Request{Options: c.options}, c.drawn); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	hour := time.Now().Add(time.Hour)
	if next, _ := p.Next(&crawl.Request{NotBefore: hour}, "x"); !next.NotBefore.Equal(hour) {
		t.Errorf("a request of its own time comes back at %v, want %v", next.NotBefore, hour)
	}
	env, _ = newEnv(t, map[string]any{"RETRY_TIMES": 100_000})
	p = NewRetryPolicy(env)
	p.rand = func() float64 { return 1 }
	r := &crawl.Request{NotBefore: time.Now(), Trail: crawl.Trail{Retries: 90_000}}
	if next, _ := p.Next(r, "x"); !next.NotBefore.IsZero() {
		t.Errorf("without RETRY_BACKOFF it waits until %v", next.NotBefore)
	}
	r.Options.RetryBackoff = time.Second
	if next, _ := p.Next(r, "x"); time.Until(next.NotBefore).Round(time.Second) != time.Minute {
		t.Errorf("after 90,000 retries it waits until %v, want a minute", next.NotBefore)
	}
}

// What one request has in place of the settings: RTY-11, RTY-14.
func TestRetryPolicyOfARequest(t *testing.T) {
	env, log := newEnv(t, map[string]any{"RETRY_TIMES": 1})
	r := &crawl.Request{Options: crawl.Options{RetryPriority: 7, GiveUpLevel: "INFO"}}
	all := tries(r, next(NewRetryPolicy(env), "x"))
	if len(all) != 1 || all[0].Priority != 7 {
		t.Errorf("got %+v, want one with priority 7", all)
	}
	log.wants(t, `"level":"info","logger":"retry","message":"Gave up`)
	if err := CheckOptions(&r.Options); err != nil {
		t.Error(err)
	}
	if err := CheckOptions(&crawl.Options{GiveUpLevel: "LOUD"}); err == nil || err.Error() != `give-up level "LOUD": want DEBUG, INFO, WARNING, ERROR or CRITICAL` {
		t.Errorf("an unknown level: %v", err)
	}
}

// RTY-16: counted by name, logged by message.
func TestRetryPolicyError(t *testing.T) {
	env, log := newEnv(t, nil)
	err := fmt.Errorf("fetch: %w", classify(errors.New("connection reset")))
	if _, ok := NewRetryPolicy(env).NextAfter(&crawl.Request{URL: "http://a.test/"}, err); !ok {
		t.Error("no retry")
	}
	if got := env.Stats.Count("retry/reason_count/DownloadFailedError"); got != 1 {
		t.Errorf("retry/reason_count/DownloadFailedError = %d, want 1", got)
	}
	log.wants(t, "(failed 1 times): fetch: connection reset")
}

func TestStatusReason(t *testing.T) {
	for status, want := range map[int]string{429: "429 Too Many Requests", 522: "522 Unknown Status"} {
		if got := StatusReason(status); got != want {
			t.Errorf("StatusReason(%d) = %q, want %q", status, got, want)
		}
	}
}

// Each error of the network has a kind and Scrapy's name for it, as the stats,
// RETRY_EXCEPTIONS and errbacks have them.
func TestClassify(t *testing.T) {
	broken := func(text string) error {
		return fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", errors.New(text))
	}
	for _, tt := range []struct {
		err  error
		kind crawl.FailureKind
		name string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host"}}, crawl.FailDNS, "CannotResolveHostError"},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, crawl.FailDNS, "CannotResolveHostError"},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, crawl.FailRefused, "DownloadConnectionRefusedError"},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, crawl.FailConnection, "DownloadFailedError"},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}, crawl.FailConnection, "DownloadFailedError"},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}, crawl.FailTimeout, "DownloadTimeoutError"},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, crawl.FailTimeout, "DownloadTimeoutError"},
		{io.EOF, crawl.FailConnection, "DownloadFailedError"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, crawl.FailTLS, "DownloadFailedError"},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, crawl.FailTLS, "DownloadFailedError"},
		{broken(`bad Content-Length "ten"`), crawl.FailProtocol, "DownloadFailedError"},
		{broken(`malformed HTTP version "HTTP/9"`), crawl.FailProtocol, "DownloadFailedError"},
		{broken(`unsupported transfer encoding: "foo"`), crawl.FailProtocol, "DownloadFailedError"},
		{errors.New("invalid byte in chunk length"), crawl.FailProtocol, "DownloadFailedError"},
		{errors.New("stream error: stream ID 1; PROTOCOL_ERROR; received from peer"), crawl.FailProtocol, "DownloadFailedError"},
		{fmt.Errorf("read: %w", denied(errors.New("10.0.0.1"))), crawl.FailDenied, "AddressDeniedError"},
		{TooLarge(errors.New("big")), crawl.FailTooLarge, "DownloadCancelledError"},
		{dataLoss(io.ErrUnexpectedEOF), crawl.FailDataLoss, "ResponseDataLossError"},
		{unsupported(errors.New("foo:")), crawl.FailUnsupported, "UnsupportedURLSchemeError"},
	} {
		err := classify(tt.err)
		if kind, name := crawl.KindOf(err), ErrorName(err); kind != tt.kind || name != tt.name {
			t.Errorf("%v: %s %s, want %s %s", tt.err, kind, name, tt.kind, tt.name)
		}
	}
}

func TestErrorName(t *testing.T) {
	for want, err := range map[string]error{
		"DownloadCancelledError": fmt.Errorf("x: %w", TooLarge(errors.New("big"))),
		"IgnoreRequest":          crawl.Ignore("offsite"),
		"errors.errorString":     errors.New("x"),
	} {
		if got := ErrorName(err); got != want {
			t.Errorf("ErrorName(%v) = %q, want %q", err, got, want)
		}
	}
}
