package quotes_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
	"github.com/skeincrawl/skein/internal/demo"
	"github.com/skeincrawl/skein/spiders/quotes"
)

// get returns a page of the demonstration site as a callback gets it.
func get(t *testing.T, path string) *crawl.Response {
	t.Helper()
	w := httptest.NewRecorder()
	demo.New().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://demo.test"+path, nil))
	return crawltest.Response("http://demo.test"+path, w.Body.Bytes())
}

func TestStart(t *testing.T) {
	t.Parallel()
	for site, want := range map[string]string{"": "http://127.0.0.1:8000/", "http://demo.test/": "http://demo.test/"} {
		args := map[string]string{}
		if site != "" {
			args["site"] = site
		}
		sp, errs := quotes.Spec().Build(args)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		var got crawl.Collector
		if err := sp.(crawl.Starter).Start(t.Context(), crawl.NewOut(t.Context(), nil, &got, nil)); err != nil {
			t.Fatal(err)
		}
		if len(got.Requests) != 1 || got.Requests[0].URL != want {
			t.Errorf("site %q: %v, want a request for %s", site, got.Requests, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	s := &quotes.Spider{}
	for n, path := range []string{1: "/", demo.Pages: "/page/5/"} {
		if path == "" {
			continue
		}
		got, err := crawl.Run(t.Context(), s.Parse, get(t, path))
		if err != nil {
			t.Fatal(err)
		}
		var want []any
		var links []string
		for _, q := range demo.PageOf(n) {
			want = append(want, quotes.Quote{Type: "quote", Text: q.Text, Author: q.Author.Name, Tags: q.Tags})
			links = append(links, "http://demo.test"+q.Author.Path())
		}
		if n < demo.Pages {
			links = append(links, "http://demo.test/page/2/")
		}
		if !reflect.DeepEqual(got.Items, want) {
			t.Errorf("%s:\n got %v\nwant %v", path, got.Items, want)
		}
		var urls []string
		for _, r := range got.Requests {
			urls = append(urls, r.URL)
		}
		if !slices.Equal(urls, links) {
			t.Errorf("%s: requests\n got %v\nwant %v", path, urls, links)
		}
	}
}

func TestParseAuthor(t *testing.T) {
	t.Parallel()
	for _, a := range demo.Authors() {
		got, err := crawl.Run(t.Context(), (&quotes.Spider{}).ParseAuthor, get(t, a.Path()))
		want := []any{quotes.Author{Type: "author", Name: a.Name, Born: a.Born, Place: a.Place, Bio: a.Bio}}
		if err != nil || !reflect.DeepEqual(got.Items, want) {
			t.Errorf("%s: %v, %v, want %v", a.Name, got.Items, err, want)
		}
	}
}
