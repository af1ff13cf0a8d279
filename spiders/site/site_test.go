package site

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// args are arguments of the spider. Without start there is one.
type args map[string]string

// build makes the registered spider.
func build(t testing.TB, a args) *Spider {
	t.Helper()
	s, err := tryBuild(t, a)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tryBuild returns what is wrong with the arguments.
func tryBuild(t testing.TB, a args) (*Spider, error) {
	t.Helper()
	spec, err := crawl.FindSpec("site")
	if err != nil {
		t.Fatal(err)
	}
	all := args{"start": "https://site.test/"}
	maps.Copy(all, a)
	sp, errs := spec.Build(all)
	return sp.(*Spider), errors.Join(errs...)
}

// run is the environment of a run, with its log.
type run struct {
	crawl.Env
	log bytes.Buffer
}

func newRun() *run {
	r := &run{Env: crawl.Env{Stats: crawl.NewStats()}}
	r.Log = zerolog.New(&r.log)
	return r
}

func opened(t testing.TB, a args) *Spider {
	t.Helper()
	s := build(t, a)
	if err := s.Open(t.Context(), &newRun().Env); err != nil {
		t.Fatal(err)
	}
	return s
}

const pageHTML = `<html><head><title>T</title></head><body>
<h1> Big <b>lamp</b>
</h1><p class="price">$1</p><p class="price">$2</p><img alt="x">
<a href="/a?x=1&amp;y=2">a</a> <a href="//other.test/b" rel="nofollow">b</a>
<a href="mailto:x@site.test">mail</a> <a href="/deep/skip.pdf">pdf</a> <a href="javascript:void 0">js</a>
</body></html>`

func page(body string) *crawl.Response {
	r := crawltest.Response("https://site.test/start", []byte(body))
	r.Request.Trail.Depth = 2
	return r
}

func parse(t testing.TB, s *Spider, r *crawl.Response) *crawl.Collector {
	t.Helper()
	got, err := crawl.Run(t.Context(), s.Parse, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func urls(requests []*crawl.Request) []string {
	var list []string
	for _, r := range requests {
		list = append(list, r.URL)
	}
	return list
}

func TestItemOfAPage(t *testing.T) {
	t.Parallel()
	s := opened(t, args{"fields": `{"title":"h1","price":"p.price::text","alt":"img::attr(alt)","none":"h2::text","no element":"h2"}`})
	got := parse(t, s, page(pageHTML))
	want := []any{crawl.Record{
		{Name: "url", Value: "https://site.test/start"},
		{Name: "status", Value: 200},
		{Name: "depth", Value: 2},
		{Name: "title", Value: "Big lamp"},
		{Name: "price", Value: "$1"},
		{Name: "alt", Value: "x"},
		{Name: "none", Value: nil},
		{Name: "no element", Value: nil},
	}}
	if !reflect.DeepEqual(got.Items, want) {
		t.Errorf("items:\n got %v\nwant %v", got.Items, want)
	}
}

func TestItemOfWhatIsNotHTML(t *testing.T) {
	t.Parallel()
	s := opened(t, args{"fields": `{"title":"h1"}`})
	r := page(`{"a":1}`)
	r.Header.Set("Content-Type", "application/json")
	got := parse(t, s, r)
	want := []any{crawl.Record{{Name: "url", Value: "https://site.test/start"}, {Name: "status", Value: 200}, {Name: "depth", Value: 2}}}
	if !reflect.DeepEqual(got.Items, want) || len(got.Requests) > 0 {
		t.Errorf("got %v and %v, want %v", got.Items, got.Requests, want)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	const a, b, pdf = "https://site.test/a?x=1&y=2", "https://other.test/b", "https://site.test/deep/skip.pdf"
	for _, tc := range []struct {
		name string
		args args
		want []string
	}{
		{"all", nil, []string{a, b, pdf}},
		{"with a tree", args{"fields": `{"t":"h1"}`}, []string{a, b, pdf}},
		{"allow", args{"allow": `site\.test`}, []string{a, pdf}},
		{"deny", args{"deny": `\.pdf$`}, []string{a, b}},
		{"deny wins", args{"allow": "^https", "deny": "other|pdf"}, []string{a}},
		{"none", args{"follow": "false"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := parse(t, opened(t, tc.args), page(pageHTML))
			if list := urls(got.Requests); !slices.Equal(list, tc.want) {
				t.Errorf("got %q, want %q", list, tc.want)
			}
			for _, r := range got.Requests {
				if r.DontFilter || r.Callback != nil {
					t.Errorf("%v: DontFilter %v, want a filtered request for Parse", r, r.DontFilter)
				}
			}
		})
	}
}

func TestPagesEndTheRun(t *testing.T) {
	t.Parallel()
	s := opened(t, args{"pages": "2"})
	for i, wantClose := range []bool{false, true, false} {
		got, err := crawl.Run(t.Context(), s.Parse, page(pageHTML))
		var ce *crawl.CloseError
		if isClose := errors.As(err, &ce); isClose != wantClose || isClose && ce.Reason != "closespider_pagecount" {
			t.Errorf("page %d: error %v, want close %v", i+1, err, wantClose)
		}
		if len(got.Items) != 1 || len(got.Requests) != 3 {
			t.Errorf("page %d: %d items and %d requests, want 1 and 3", i+1, len(got.Items), len(got.Requests))
		}
	}
}

func TestAllowedDomains(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "urls.txt")
	if err := os.WriteFile(list, []byte("https://b.test/1\nhttps://a.test/\nhttps://b.test/2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		args args
		want []string
	}{
		{"hosts of the start URLs", args{"start": "https://b.test:8443/x,HTTP://A.test/,https://b.test/"}, []string{"a.test", "b.test"}},
		{"hosts of a list", args{"start": "@" + list}, []string{"a.test", "b.test"}},
		{"given", args{"domains": "x.test, Bücher.example"}, []string{"x.test", "xn--bcher-kva.example"}},
		{"addresses", args{"start": "http://127.0.0.1:1/,http://[::1]/"}, []string{"127.0.0.1", "[::1]"}},
		{"any", args{"domains": "*"}, nil},
		{"nothing is followed", args{"start": "file:///data/x.html", "follow": "false"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := opened(t, tc.args).AllowedDomains(); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.txt")
	junk := filepath.Join(t.TempDir(), "junk.txt")
	if err := errors.Join(os.WriteFile(empty, []byte("# nothing\n\n"), 0o600), os.WriteFile(junk, []byte("\nfoo\nbar\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, arg, value, want string }{
		{"no start", "start", "", "it is missing"},
		{"no scheme", "start", "site.test", `"site.test" is no URL: it needs a scheme, such as https://site.test`},
		{"port and no scheme", "start", "site.test:8080/x", "it needs a scheme"},
		{"second without scheme", "start", "https://a.test/, https://", `is no usable URL`},
		{"bad port", "start", "https://a.test:99999/", "is no usable URL"},
		{"no stdin", "start", "-", "there is no standard input"},
		{"no file name", "start", "@", "@ needs the name of a file"},
		{"missing file", "start", "@/nowhere/urls.txt", "read start URLs: open /nowhere/urls.txt: no such file"},
		{"empty file", "start", "@" + empty, empty + " has no URL"},
		{"file of junk", "start", "@" + junk, junk + ` has no usable URL: line 2: "foo" is no URL`},
		{"start without host", "domains", "", "the start URLs have no hosts"},
		{"allow", "allow", "a(", "missing closing )"},
		{"deny", "deny", "[", "missing closing ]"},
		{"domain with scheme", "domains", "https://a.test", `"https://a.test" is no domain`},
		{"domain with port", "domains", "a.test:80", `"a.test:80" is no domain`},
		{"empty domain", "domains", "a.test,", `"" is no domain`},
		{"any among others", "domains", "a.test,*", `"*" is no domain`},
		{"fields", "fields", "title", `"title" is no JSON object`},
		{"fields list", "fields", `["h1"]`, "is no JSON object"},
		{"fields cut", "fields", `{"a":"h1"`, "not valid JSON: unexpected EOF"},
		{"fields with more", "fields", `{"a":"h1"} x`, "something follows"},
		{"fields number", "fields", `{"a":1}`, `the selector of field "a" is no string`},
		{"fields nested", "fields", `{"a":{"b":"h1"}}`, `the selector of field "a" is no string`},
		{"fields selector", "fields", `{"a":"h1["}`, `field "a": invalid CSS selector "h1["`},
		{"fields pseudo", "fields", `{"a":"h1::foo"}`, "unknown pseudo-element"},
		{"fields twice", "fields", `{"a":"h1","a":"h2"}`, `field "a" is given twice`},
		{"fields taken", "fields", `{"url":"h1"}`, `field "url" is in every item already`},
		{"pages", "pages", "-1", "it is a number of pages"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := args{tc.arg: tc.value}
			if tc.arg == "domains" && tc.value == "" {
				a = args{"start": "file:///data/x.html"}
			}
			s, err := tryBuild(t, a)
			if err == nil {
				err = s.Open(t.Context(), &newRun().Env)
			}
			var ae *crawl.ArgError
			if !errors.As(err, &ae) || ae.Arg != tc.arg || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an ArgError of %s with %q", err, tc.arg, tc.want)
			}
		})
	}
}

func TestAllBadArgumentsAreReported(t *testing.T) {
	t.Parallel()
	_, err := tryBuild(t, args{"start": "x", "allow": "(", "fields": "x", "domains": "/"})
	for _, arg := range []string{"start", "allow", "fields", "domains"} {
		if err == nil || !strings.Contains(err.Error(), "spider site: argument "+arg+": ") {
			t.Errorf("got %v, want %s in it", err, arg)
		}
	}
}

// BenchmarkParse is a page of 10 KiB with 20 links and 3 fields. The same page
// parsed and searched by hand is the cost that the spider can not avoid.
func BenchmarkParse(b *testing.B) {
	body := crawltest.NewSite(crawltest.Config{Pages: 20000, Links: 20, Size: 10 << 10}).Render(7)
	fields := args{"fields": `{"name":"h1.name::text","price":"span.price::text","desc":"p.desc"}`}
	step := discard{}
	for name, s := range map[string]*Spider{"fields": opened(b, fields), "no fields": opened(b, nil)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := crawltest.Response("https://site.test/p/7", body)
				if err := s.Parse(b.Context(), r, crawl.NewOut(b.Context(), r, step, nil)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := crawltest.Response("https://site.test/p/7", body)
			for _, selector := range []string{"h1.name::text", "span.price::text", "p.desc"} {
				_ = r.CSS(selector).Len()
			}
			for l := range r.Links() {
				_ = l
			}
		}
	})
}

type discard struct{}

func (discard) Emit(context.Context, any) error { return nil }
