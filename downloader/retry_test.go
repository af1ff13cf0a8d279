package downloader

import (
	"errors"
	"fmt"
	"testing"

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
