package crawltest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/crawltest"
)

func ExampleResponse() {
	parse := func(_ context.Context, r *crawl.Response, out crawl.Out) error {
		out.Item(map[string]string{"title": r.CSS("h1::text").Get()})
		out.Follow(r.CSS("a::attr(href)").Get(), nil)
		return nil
	}
	page := crawltest.Response("https://shop.test/a", []byte(`<h1>Lamp</h1><a href="b">next</a>`))
	got, err := crawl.Run(context.Background(), parse, page)
	fmt.Println(got.Items[0], got.Requests[0], err)
	// Output: map[title:Lamp] <GET https://shop.test/b> <nil>
}

func TestResponseFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := crawltest.ResponseFile(t, "https://shop.test/data", file)
	if r.ContentType() != "application/json" || r.Text() != `{"a":1}` || r.Status != 200 || r.IsHTML() {
		t.Errorf("got %v %s %q", r, r.ContentType(), r.Text())
	}
}
