package middleware

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

// attempts fetches until the answer is no further request, and returns how many
// requests there were and how it ended.
func attempts(t testing.TB, f crawl.Fetcher, r *crawl.Request) (int, *crawl.Response, error) {
	t.Helper()
	for n := 1; ; n++ {
		resp, err := f.Fetch(t.Context(), r)
		next := rescheduled(err)
		if next == nil {
			return n, resp, err
		}
		r = next
	}
}

// RTY-01, RTY-02, RTY-04.
func TestRetryStatus(t *testing.T) {
	for _, tt := range []struct {
		id      string
		status  int
		options crawl.Options
		want    int
	}{
		{"RTY-01", 404, crawl.Options{}, 1},
		{"RTY-01", 200, crawl.Options{}, 1},
		{"RTY-02", 503, crawl.Options{NoRetry: true}, 1},
		{"RTY-04", 503, crawl.Options{}, 3},
		{"RTY-09", 503, crawl.Options{MaxRetries: 3}, 4},
		{"code", 522, crawl.Options{}, 3},
	} {
		env, _ := newEnv(t, nil)
		f := wrap(t, "retry", env, respond(&crawl.Response{Status: tt.status}))
		n, resp, err := attempts(t, f, &crawl.Request{URL: "http://a.test/", Options: tt.options})
		if n != tt.want || err != nil || resp.Status != tt.status {
			t.Errorf("%s: %d requests, %v, %v; want %d and the response", tt.id, n, resp, err, tt.want)
		}
	}
}

// RTY-03, RTY-06: Scrapy's list of exceptions, and what is not in it.
func TestRetryErrors(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct {
		err  error
		want int
	}{
		{&crawl.DownloadError{Kind: crawl.FailTimeout, Name: "DownloadTimeoutError", Err: failed}, 3},
		{&crawl.DownloadError{Kind: crawl.FailDNS, Name: "CannotResolveHostError", Err: failed}, 3},
		{&crawl.DownloadError{Kind: crawl.FailRefused, Name: "DownloadConnectionRefusedError", Err: failed}, 3},
		{&crawl.DownloadError{Kind: crawl.FailConnection, Name: "DownloadFailedError", Err: failed}, 3},
		{&crawl.DownloadError{Kind: crawl.FailDataLoss, Name: "ResponseDataLossError", Err: failed}, 3},
		{&crawl.DownloadError{Kind: crawl.FailProtocol, Name: "DownloadFailedError", Err: failed}, 3},
		{&crawl.DownloadError{Kind: crawl.FailTLS, Name: "DownloadFailedError", Err: failed}, 1},
		{downloader.TooLarge(failed), 1},
		{&crawl.DownloadError{Kind: crawl.FailUnsupported, Name: "UnsupportedURLSchemeError", Err: failed}, 1},
		{crawl.Ignore("no"), 1},
		{fmt.Errorf("download: %w", crawl.ErrStopped), 1},
		{failed, 1},
	} {
		env, _ := newEnv(t, nil)
		n, _, err := attempts(t, wrap(t, "retry", env, failWith(tt.err)), &crawl.Request{})
		if n != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%v: %d requests, %v; want %d and the error", tt.err, n, err, tt.want)
		}
		if tt.want > 1 {
			wantStats(t, env, map[string]int64{"retry/count": 2, "retry/max_reached": 1, "retry/reason_count/" + downloader.ErrorName(tt.err): 2})
		}
		n, _, _ = attempts(t, wrap(t, "retry", env, failWith(tt.err)), &crawl.Request{Options: crawl.Options{NoRetry: true}})
		if n != 1 {
			t.Errorf("RTY-03: %v: %d requests with NoRetry, want 1", tt.err, n)
		}
	}
}

// busyError is an error of a handler of one's own.
type busyError struct{}

func (*busyError) Error() string { return "busy" }

// RTY-07: RETRY_EXCEPTIONS by kind, by Scrapy's name and by type, in place of what is
// tried again by default.
func TestRetryExceptions(t *testing.T) {
	failed := errors.New("failed")
	secure := &crawl.DownloadError{Kind: crawl.FailTLS, Name: "DownloadFailedError", Err: failed}
	late := &crawl.DownloadError{Kind: crawl.FailTimeout, Name: "DownloadTimeoutError", Err: failed}
	for _, tt := range []struct {
		setting string
		err     error
		want    int
	}{
		{"tls", secure, 3},
		{"tls", late, 1},
		{"scrapy.exceptions.DownloadFailedError", secure, 3},
		{"DownloadTimeoutError,too large", late, 3},
		{"too large", downloader.TooLarge(failed), 3},
		{"middleware.busyError", fmt.Errorf("fetch: %w", failed), 1},
		{"middleware.busyError", &busyError{}, 3},
		{"", late, 1},
	} {
		env, _ := newEnv(t, map[string]any{"RETRY_EXCEPTIONS": tt.setting})
		if n, _, _ := attempts(t, wrap(t, "retry", env, failWith(tt.err)), &crawl.Request{}); n != tt.want {
			t.Errorf("RETRY_EXCEPTIONS=%s: %T %v: %d requests, want %d", tt.setting, tt.err, tt.err, n, tt.want)
		}
	}
}

// The kinds that RETRY_EXCEPTIONS names are those that a download can end with.
func TestRetryExceptionsKinds(t *testing.T) {
	for _, kind := range []crawl.FailureKind{
		crawl.FailTimeout, crawl.FailDNS, crawl.FailRefused, crawl.FailConnection, crawl.FailProtocol, crawl.FailTLS, crawl.FailDenied,
		crawl.FailDataLoss, crawl.FailTooLarge, crawl.FailUnsupported,
	} {
		env, _ := newEnv(t, map[string]any{"RETRY_EXCEPTIONS": []string{string(kind)}})
		err := &crawl.DownloadError{Kind: kind, Name: "x", Err: errors.New("failed")}
		if n, _, _ := attempts(t, wrap(t, "retry", env, failWith(err)), &crawl.Request{}); n != 3 {
			t.Errorf("%s: %d requests, want 3", kind, n)
		}
	}
}

// An inner middleware can ask for a retry itself, and gets a plain error in the
// end, which does not ask again.
func TestRetryAsked(t *testing.T) {
	env, _ := newEnv(t, nil)
	f := wrap(t, "retry", env, crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return nil, crawl.Retry(r, "captcha")
	}))
	n, _, err := attempts(t, f, &crawl.Request{})
	var asked *crawl.RetryError
	if n != 3 || errors.As(err, &asked) || err.Error() != "captcha" {
		t.Errorf("%d requests, %v; want 3 and captcha", n, err)
	}
	wantStats(t, env, map[string]int64{"retry/reason_count/captcha": 2})
}

// scrapy/scrapy#3849: a retry waits as long as Retry-After says.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, _ := newEnv(t, nil)
		for after, want := range map[string]time.Duration{"7": 7 * time.Second, "86400": time.Hour} {
			f := wrap(t, "retry", env, respond(&crawl.Response{Status: 429, Header: http.Header{"Retry-After": {after}}}))
			_, err := f.Fetch(t.Context(), &crawl.Request{})
			if next := rescheduled(err); next == nil || time.Until(next.NotBefore) != want {
				t.Errorf("Retry-After %s: %+v, want a retry in %v", after, next, want)
			}
		}
		f := wrap(t, "retry", env, respond(&crawl.Response{Status: 503}))
		_, err := f.Fetch(t.Context(), &crawl.Request{NotBefore: time.Now()})
		if next := rescheduled(err); next == nil || !next.NotBefore.IsZero() {
			t.Errorf("without Retry-After: %+v, want a retry at once", next)
		}
		env, _ = newEnv(t, map[string]any{"RETRY_BACKOFF": "1ms"})
		f = wrap(t, "retry", env, respond(&crawl.Response{Status: 429, Header: http.Header{"Retry-After": {"7"}}}))
		_, err = f.Fetch(t.Context(), &crawl.Request{})
		if next := rescheduled(err); next == nil || time.Until(next.NotBefore) != 7*time.Second {
			t.Errorf("Retry-After and a shorter backoff: %+v, want a retry in 7s", next)
		}
		f = wrap(t, "retry", env, respond(&crawl.Response{Status: 429, Header: http.Header{"Retry-After": {"3600"}}, Flags: []string{"cached"}}))
		_, err = f.Fetch(t.Context(), &crawl.Request{})
		if next := rescheduled(err); next == nil || time.Until(next.NotBefore) > time.Minute {
			t.Errorf("Retry-After of the cache: %+v, want no such wait", next)
		}
		f = wrap(t, "retry", env, respond(&crawl.Response{Status: 429, Header: http.Header{"Retry-After": {"0"}}}))
		_, err = f.Fetch(t.Context(), &crawl.Request{NotBefore: time.Now().Add(time.Minute)})
		if next := rescheduled(err); next == nil || time.Until(next.NotBefore) != time.Minute {
			t.Errorf("Retry-After of nothing: %+v, want what comes later", next)
		}
	})
}

func TestRetryOff(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"RETRY_ENABLED": false})
	if n, _, _ := attempts(t, wrap(t, "retry", env, respond(&crawl.Response{Status: 503})), &crawl.Request{}); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	env, _ = newEnv(t, map[string]any{"RETRY_HTTP_CODES": []int{404}})
	if n, _, _ := attempts(t, wrap(t, "retry", env, respond(&crawl.Response{Status: 404})), &crawl.Request{}); n != 3 {
		t.Errorf("%d requests with RETRY_HTTP_CODES=404, want 3", n)
	}
}
