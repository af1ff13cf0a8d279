package middleware

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// unhandled is what the engine does for a spider without an errback.
func unhandled(_ context.Context, _ *crawl.Response, f *crawl.Failure, _ crawl.Out) error {
	if f != nil {
		return f
	}
	return nil
}

// HE-01, HE-03 to HE-06.
func TestHTTPErrorRules(t *testing.T) {
	all := map[string]any{"HTTPERROR_ALLOW_ALL": true}
	codes := map[string]any{"HTTPERROR_ALLOWED_CODES": []int{402}}
	for _, tt := range []struct {
		id       string
		settings map[string]any
		options  crawl.Options
		pass     []int
		fail     []int
	}{
		{"HE-01", nil, crawl.Options{}, []int{200, 204, 299}, []int{199, 300, 301, 404, 500}},
		{"HE-03", nil, crawl.Options{Statuses: []int{404}}, []int{200, 404}, []int{402, 500}},
		{"HE-04", codes, crawl.Options{}, []int{200, 402}, []int{404}},
		{"HE-04 request", codes, crawl.Options{Statuses: []int{404}}, []int{200, 404}, []int{402}},
		{"HE-05", all, crawl.Options{}, []int{200, 301, 404, 402, 500}, nil},
		{"HE-05 request", all, crawl.Options{Statuses: []int{404}}, []int{404}, []int{402}},
		{"HE-06", nil, crawl.Options{AnyStatus: true}, []int{200, 402, 404}, nil},
	} {
		t.Run(tt.id, func(t *testing.T) {
			env, _ := newEnv(t, tt.settings)
			var got *crawl.Failure
			h := wrap(t, "httperror", env, func(_ context.Context, _ *crawl.Response, f *crawl.Failure, _ crawl.Out) error {
				got = f
				return nil
			})
			for _, list := range []struct {
				codes []int
				fails bool
			}{{tt.pass, false}, {tt.fail, true}} {
				for _, status := range list.codes {
					if _, err := handle(t, h, page(status, 0, tt.options), nil); err != nil || (got != nil) != list.fails {
						t.Errorf("%d: failure %v, %v; want one = %v", status, got, err, list.fails)
					}
				}
			}
		})
	}
}

// The errback gets everything there is to know.
func TestHTTPErrorFailure(t *testing.T) {
	env, _ := newEnv(t, nil)
	r := page(404, 0, crawl.Options{})
	h := wrap(t, "httperror", env, func(_ context.Context, got *crawl.Response, f *crawl.Failure, _ crawl.Out) error {
		var status *HTTPError
		if got != nil || f.Request != r.Request || f.Response != r || f.Kind != crawl.FailStatus || !errors.As(f, &status) || status.Status != 404 {
			t.Errorf("response %v, failure %+v", got, f)
		}
		return nil
	})
	if _, err := handle(t, h, r, nil); err != nil {
		t.Error(err)
	}
}

// HE-02, HE-07: what nobody handles is logged and counted, and is no error.
func TestHTTPErrorIgnored(t *testing.T) {
	env, log := newEnv(t, nil)
	h := wrap(t, "httperror", env, unhandled)
	for _, status := range []int{200, 404, 402, 500} {
		if _, err := handle(t, h, page(status, 0, crawl.Options{}), nil); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
	again := wrap(t, "httperror", env, func(_ context.Context, _ *crawl.Response, f *crawl.Failure, _ crawl.Out) error {
		return fmt.Errorf("errback: %w", f.Err)
	})
	if _, err := handle(t, again, page(404, 0, crawl.Options{}), nil); err != nil {
		t.Error(err)
	}
	wantStats(t, env, map[string]int64{
		"httperror/response_ignored_count": 4, "httperror/response_ignored_status_count/404": 2,
		"httperror/response_ignored_status_count/402": 1, "httperror/response_ignored_status_count/500": 1,
	})
	wantLog(t, log, `"level":"info","logger":"httperror","message":"Ignoring response <404 http://a.test/>: HTTP status code is not handled or not allowed"`, 2)
}

// HE-02, HE-08: a handled failure, another error, and a failure of the download
// are none of its business.
func TestHTTPErrorOthers(t *testing.T) {
	env, log := newEnv(t, nil)
	c, err := handle(t, wrap(t, "httperror", env, emit("item")), page(402, 0, crawl.Options{}), nil)
	if err != nil || len(c.Items) != 1 {
		t.Errorf("HE-08: %v, %v", c, err)
	}
	bug := errors.New("bug")
	failed := wrap(t, "httperror", env, func(context.Context, *crawl.Response, *crawl.Failure, crawl.Out) error { return bug })
	if _, err := handle(t, failed, page(404, 0, crawl.Options{}), nil); !errors.Is(err, bug) {
		t.Errorf("HE-02: error = %v, want %v", err, bug)
	}
	f := &crawl.Failure{Request: &crawl.Request{}, Err: bug, Kind: crawl.FailTimeout}
	if _, err := handle(t, wrap(t, "httperror", env, unhandled), nil, f); !errors.Is(err, f) {
		t.Errorf("error = %v, want %v", err, f)
	}
	wantStats(t, env, map[string]int64{"httperror/response_ignored_count": 0})
	wantLog(t, log, "Ignoring", 0)
}
