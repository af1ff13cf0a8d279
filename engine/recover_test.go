package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// CRAWL-24: an error before anything was emitted leaves nothing, and the
// middleware around the callback sees it.
func TestErrorBeforeItems(t *testing.T) {
	p := (&probe{fetch: always}).starts("http://a.test/")
	p.page = func(context.Context, *crawl.Response, crawl.Out) error { return errors.New("no list") }
	p.wrap = func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			err := next(ctx, r, f, out)
			if r != nil {
				p.note("saw %v", err)
			}
			return err
		}
	}
	p.crawl(t).want(t, "finished", map[string]int64{"item_scraped_count": 0, "spider_exceptions/count": 1})
	if got, want := p.notes(), []string{"saw no list"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// CRAWL-25: a middleware makes an item and another try of an error, which is
// none any more.
func TestMiddlewareRecovers(t *testing.T) {
	p := (&probe{fetch: always}).starts("http://a.test/")
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(record("page"))
		if r.Request.Meta["again"] == nil {
			return errors.New("half a page")
		}
		return nil
	}
	p.wrap = func(next crawl.Handler) crawl.Handler {
		return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			err := next(ctx, r, f, out)
			if r == nil || err == nil {
				return err
			}
			p.note("saw %v", err)
			out.Item(record("recovered"))
			again := r.Request.Clone()
			again.Meta, again.DontFilter = map[string]any{"again": true}, true
			out.Request(again)
			return nil
		}
	}
	p.crawl(t).want(t, "finished", map[string]int64{
		"item_scraped_count": 3, "response_received_count": 2, "spider_exceptions/count": 0,
	})
	if got, want := p.notes(), []string{"saw half a page"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// stamp is a spider middleware that adds its name to each item that passes.
func stamp(name string, next crawl.Handler) crawl.Handler {
	return func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
		return next(ctx, r, f, out.Through(func(v any) any {
			if s, ok := v.(string); ok {
				return s + " " + name
			}
			return v
		}))
	}
}

// CRAWL-28: what a middleware emits in place of an error passes only those
// outside of it.
func TestRecoveredItemPassesTheOuter(t *testing.T) {
	p := (&probe{fetch: always}).starts("http://a.test/")
	p.page = func(_ context.Context, _ *crawl.Response, out crawl.Out) error {
		out.Item("original")
		return errors.New("after the first")
	}
	p.wrap = func(next crawl.Handler) crawl.Handler {
		inner := stamp("5", stamp("8", stamp("10", next)))
		return stamp("3", func(ctx context.Context, r *crawl.Response, f *crawl.Failure, out crawl.Out) error {
			if err := inner(ctx, r, f, out); r != nil && err != nil {
				out.Item("recovered")
			}
			return nil
		})
	}
	p.connect = func(env *crawl.Env) {
		crawl.On(env.Signals, func(_ context.Context, e crawl.ItemScraped) error { p.note("%v", e.Item); return nil })
	}
	p.crawl(t).want(t, "finished", map[string]int64{"spider_exceptions/count": 0})
	if got, want := p.notes(), []string{"original 10 8 5 3", "recovered 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// MW-01, MW-02: a downloader middleware that answers keeps the request from the
// wire, and one that answers for a failure makes it none.
func TestMiddlewareAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		url    string
		sends  bool
		failed int64
	}{
		"MW-01 in place of the handler": {"http://a.test/", false, 0},
		"MW-02 in place of an error":    {"foo://a.test/", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := (&probe{}).starts(c.url)
			p.fetch = func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
				if c.sends {
					_, err := next.Fetch(ctx, r)
					p.note("failed %v", crawl.KindOf(err))
				}
				return answer(r, "<h1>answer</h1>"), nil
			}
			p.page = func(_ context.Context, r *crawl.Response, _ crawl.Out) error {
				p.note("page %s", r.CSS("h1::text").Get())
				return nil
			}
			p.connect = func(env *crawl.Env) { tell[crawl.RequestReachedDownloader](p, env) }
			p.crawl(t).want(t, "finished", map[string]int64{"downloader/response_count": 1, "downloader/exception_count": 0})
			want := []string{"page answer"}
			if c.sends {
				want = []string{"RequestReachedDownloader", "failed unsupported", "page answer"}
			}
			if got := p.notes(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// LG-01, LG-03, LG-04: the lines of the start, a page, an item, an item that fails, a
// callback that fails and a download that fails. Items are shown as JSON.
func TestLines(t *testing.T) {
	p := &probe{}
	p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
		if strings.HasSuffix(r.URL, "/lost") {
			return nil, errors.New("no wire")
		}
		resp := answer(r, "")
		if strings.HasSuffix(r.URL, "/2") {
			resp.Flags = []string{"partial", "other"}
		}
		return resp, nil
	}
	p.begin = func(_ context.Context, out crawl.Out) error {
		out.Request(&crawl.Request{URL: "http://a.test/1"})
		out.Request(&crawl.Request{URL: "http://a.test/lost"})
		return nil
	}
	p.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		if strings.HasSuffix(r.URL, "/2") {
			return errors.New("bad page")
		}
		out.Item(record("x"))
		out.Item(&badItem{feeds: 1})
		out.Follow("/2", nil)
		return nil
	}
	o := probeOptions(t, p, p, "BOT_NAME=shopbot")
	_, o.Feeds, _ = inJob(t)
	finish(t.Context(), t, o).want(t, "finished", map[string]int64{"item_scraped_count": 1})
	p.wantLogged(t, map[string]int{
		`"Starting spider probe (bot: shopbot) without a job directory"`:                        1,
		`"Crawled (200) <GET http://a.test/1> (referer: None)"`:                                 1,
		`"Crawled (200) <GET http://a.test/2> (referer: http://a.test/1) ['partial', 'other']"`: 1,
		`"Scraped from <200 http://a.test/1>\n{\"url\":\"x\"}"`:                                 1,
		`Error processing {`: 1,
		`"Spider error processing <GET http://a.test/2> (referer: http://a.test/1)"`: 1,
		`"error":"no wire","message":"Error downloading <GET http://a.test/lost>"`:   1,
	})
	if t.Failed() {
		t.Log(fmt.Sprint("log:\n", p.lines.String()))
	}
}
