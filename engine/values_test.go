package engine_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
)

// free is a probe with a state of free form.
type free struct {
	probe
	values crawl.Values
}

func (f *free) State() any { return &f.values }

// SER-01: what a step puts into the state is there in the next run, with its
// type: integers, times with their offset, and all that Meta holds.
func TestValuesSurvive(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	want := crawl.Values{
		"one": 1, "dt": time.Date(2026, 5, 1, 12, 0, 0, 123, zone), "f": 1.0, "large": 1 << 60, "list": []any{1, "a", nil},
		"map": map[string]any{"t": time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), "<&>": true},
	}
	fs := faultfs.New()
	ctx, cancel := context.WithCancel(t.Context())
	newSpider := func() *free {
		f := &free{values: crawl.Values{"of": "a new spider"}}
		f.fetch = always
		f.starts("http://a.test/1", "http://a.test/2")
		f.page = func(_ context.Context, _ *crawl.Response, out crawl.Out) error {
			crawl.UpdateState(out, func(v *crawl.Values) { *v = want })
			cancel()
			return nil
		}
		return f
	}
	run := func(ctx context.Context, f *free) ending {
		o := probeOptions(t, &f.probe, f, "JOBDIR=/job", "CONCURRENT_REQUESTS=1")
		o.FS = fs
		return finish(ctx, t, o)
	}
	run(ctx, newSpider()).want(t, "shutdown", nil)
	f := newSpider()
	opened := false
	f.open = func(*crawl.Env) error {
		opened = true
		if !reflect.DeepEqual(f.values["map"], want["map"]) || len(f.values) != len(want) {
			t.Errorf("got %#v, want %#v", f.values, want)
		}
		for key := range want {
			if got := f.values[key]; fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want[key], want[key]) {
				t.Errorf("%s: got %T %v, want %T %v", key, got, got, want[key], want[key])
			}
		}
		return nil
	}
	run(t.Context(), f).want(t, "finished", nil)
	if !opened {
		t.Error("the spider was not opened")
	}
	f.wantLogged(t, map[string]int{"no state": 0})
}

// SER-01, as part of the step: at whatever page the process is killed, the state
// is that of the items in the feed, neither ahead nor behind.
func TestValuesAfterKill(t *testing.T) {
	for _, at := range []int{1, 2, 11, 29} {
		t.Run(fmt.Sprintf("at page %d", at), func(t *testing.T) {
			t.Parallel()
			valuesAfterKill(t, at)
		})
	}
}

func valuesAfterKill(t *testing.T, at int) {
	const n = 30
	fs := faultfs.New()
	_, feed, file := inJob(t)
	newSpider := func(onFetch func()) *free {
		f := &free{values: crawl.Values{}}
		f.starts(urls("http://a.test", n)...)
		f.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			onFetch()
			return answer(r, ""), nil
		}
		f.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
			out.Item(record(r.URL))
			crawl.UpdateState(out, func(v *crawl.Values) {
				pages, _ := (*v)["pages"].([]any)
				(*v)["pages"] = append(pages, r.URL)
			})
			return nil
		}
		return f
	}
	check := func(f *free, names []string) {
		t.Helper()
		pages, _ := f.values["pages"].([]any)
		if len(pages) != len(names) || len(names) > 0 && !slices.Equal(names, strings.Fields(strings.Trim(fmt.Sprint(pages), "[]"))) {
			t.Errorf("state %q, items %q", pages, names)
		}
	}
	run := func(ctx context.Context, f *free, fs *faultfs.FS) {
		o := probeOptions(t, &f.probe, f, "JOBDIR=/job", "CONCURRENT_REQUESTS=1", "CONCURRENT_PARSES=1")
		o.FS, o.Feeds = fs, feed
		if end := finish(ctx, t, o); end.err != nil {
			t.Fatal(end.err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var killed *faultfs.FS
	var written []byte
	fetched := 0
	run(ctx, newSpider(func() {
		if fetched++; fetched == at {
			killed = fs.Kill() // the journal first: the feed is never behind it
			written, _ = os.ReadFile(file)
			cancel()
		}
	}), fs)
	if err := os.WriteFile(file, written, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newSpider(func() {})
	f.open = func(*crawl.Env) error { check(f, order(t, file)); return nil }
	run(t.Context(), f, killed)
	if names := order(t, file); len(names) != n {
		t.Errorf("%d items, want %d", len(names), n)
	} else {
		check(f, names)
	}
}

// What can not be stored is an error of the step that names the key, and changes
// nothing.
func TestValuesThatCanNotBeStored(t *testing.T) {
	f := &free{values: crawl.Values{"kept": 1}}
	f.fetch = always
	f.starts("http://a.test/1")
	f.page = func(_ context.Context, _ *crawl.Response, out crawl.Out) error {
		crawl.UpdateState(out, func(v *crawl.Values) { (*v)["kept"], (*v)["conn"] = 2, make(chan int) })
		return nil
	}
	finish(t.Context(), t, probeOptions(t, &f.probe, f)).want(t, "finished", map[string]int64{"spider_exceptions/count": 1})
	if want := (crawl.Values{"kept": 1}); !reflect.DeepEqual(f.values, want) {
		t.Errorf("state %v, want %v", f.values, want)
	}
	f.wantLogged(t, map[string]int{`Values[\"conn\"] is a chan int`: 1})
}

// scrapy/scrapy#5312: a run that resumes says so if there is no state to go on
// with, be it that the spider has none or that no step changed it.
func TestAbsentStateIsSaid(t *testing.T) {
	stateless, unchanged := &probe{}, &free{}
	for _, c := range []struct {
		p    *probe
		sp   crawl.Spider
		want string
	}{
		{stateless, stateless, "The spider has no state to go on with"},
		{&unchanged.probe, unchanged, "The job has no state of the spider"},
	} {
		fs := faultfs.New()
		ctx, cancel := context.WithCancel(t.Context())
		c.p.starts("http://a.test/1", "http://a.test/2")
		c.p.fetch = func(_ context.Context, r *crawl.Request, _ crawl.Fetcher) (*crawl.Response, error) {
			cancel()
			return answer(r, ""), nil
		}
		for i, ctx := range []context.Context{ctx, t.Context()} {
			o := probeOptions(t, c.p, c.sp, "JOBDIR=/job", "CONCURRENT_REQUESTS=1")
			o.FS = fs
			finish(ctx, t, o)
			c.p.wantLogged(t, map[string]int{c.want: i})
		}
	}
}

// Within a run values are of the kinds that they have after a resume, and a nil
// map is made.
func TestValuesAreOfOneKind(t *testing.T) {
	f := &free{}
	f.fetch = always
	f.starts("http://a.test/1")
	f.page = func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		crawl.UpdateState(out, func(v *crawl.Values) { (*v)["n"], (*v)["list"] = int64(7), []string{"a"} })
		out.Follow("/2", f.second(t))
		return nil
	}
	o := probeOptions(t, &f.probe, f, "CONCURRENT_REQUESTS=1")
	finish(t.Context(), t, o).want(t, "finished", map[string]int64{"response_received_count": 2, "log_count/ERROR": 0})
}

// second is a callback that reads what the page before it has put into the state.
func (f *free) second(t *testing.T) crawl.Callback {
	return func(_ context.Context, _ *crawl.Response, out crawl.Out) error {
		crawl.ReadState(out, func(v *crawl.Values) {
			if got := fmt.Sprintf("%T %T", (*v)["n"], (*v)["list"]); got != "int []interface {}" {
				t.Errorf("the values are of the kinds %s", got)
			}
		})
		return nil
	}
}
