package crawl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

const shelf = `<body><div id=a class=s>own <b>bold</b> tail<p>one</p><div id=inner><p title=T>two</p></div></div>` +
	`<div id=b class=s><p>three <a href=/x title="a,b">link</a></p><svg viewBox="0 0 1 1" xlink:href="#i"></svg></div>`

func TestCSS(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		selector string
		want     []string
	}{
		{"p", []string{"<p>one</p>", `<p title="T">two</p>`, `<p>three <a href="/x" title="a,b">link</a></p>`}},
		{"#a::text", []string{"own ", " tail"}},
		{"#a ::text", []string{"own ", "bold", " tail", "one", "two"}},
		{"div ::text", []string{"own ", "bold", " tail", "one", "two", "three ", "link"}},
		{"::text", []string{"own ", "bold", " tail", "one", "two", "three ", "link"}},
		{"p::attr(title)", []string{"T"}},
		{"p::attr(TITLE)", []string{"T"}},
		{`p::attr("title")`, []string{"T"}},
		{"::attr(id)", []string{"a", "inner", "b"}},
		{"#a ::attr(id)", []string{"inner"}},
		{"svg::attr(viewBox)", []string{"0 0 1 1"}},
		{"svg::attr(xlink:href)", []string{"#i"}},
		{"svg::attr(href)", nil},
		{"b::text, a::text", []string{"bold", "link"}},
		{`a[title="a,b"]::text`, []string{"link"}},
		{`a[title="x::text"]::text`, nil},
		{":not(p, div)::text", []string{"bold", "link"}},
		{"#inner > p::text", []string{"two"}},
		{"#a > ::text", []string{"bold", "one"}},
		{"none::text", nil},
		{"none", nil},
	} {
		t.Run(tc.selector, func(t *testing.T) {
			t.Parallel()
			r := htmlPage("http://example.com/", shelf)
			s := r.CSS(tc.selector)
			if got := s.All(); !slices.Equal(got, tc.want) {
				t.Errorf("All = %q, want %q", got, tc.want)
			}
			if got := slices.Collect(s.Values()); !slices.Equal(got, tc.want) {
				t.Errorf("Values = %q, want %q", got, tc.want)
			}
			var each []string
			for one := range s.Each() {
				each = append(each, one.Get())
			}
			if !slices.Equal(each, tc.want) || s.Len() != len(tc.want) {
				t.Errorf("Each = %q, Len = %d, want %q", each, s.Len(), tc.want)
			}
			first := "default"
			if len(tc.want) > 0 {
				first = tc.want[0]
			}
			if got := s.GetOr("default"); got != first {
				t.Errorf("GetOr = %q, want %q", got, first)
			}
			if err := r.SelectorErr(); err != nil {
				t.Errorf("SelectorErr: %v", err)
			}
		})
	}
}

func TestNestedCSS(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", shelf)
	for _, tc := range []struct {
		what      string
		selection crawl.Selection
		want      []string
	}{
		{"descendants", r.CSS("#b").CSS("a::text"), []string{"link"}},
		{"not the element itself", r.CSS("#a").CSS("#a"), nil},
		{"roots inside roots, each once", r.CSS("div").CSS("p::text"), []string{"one", "two", "three "}},
		{"own texts", r.CSS("#a p").CSS("::text"), []string{"one", "two"}},
		{"all texts", r.CSS("#b p").CSS(" ::text"), []string{"three ", "link"}},
		{"own attribute", r.CSS("a").CSS("::attr(href)"), []string{"/x"}},
		{"own and inner attributes", r.CSS("#a").CSS("::attr(id)"), []string{"a", "inner"}},
		{"of texts", r.CSS("p::text").CSS("a"), nil},
		{"of nothing", crawl.Selection{}.CSS("a"), nil},
		{"invalid, of nothing", crawl.Selection{}.CSS("a["), nil},
		{"one of several", r.CSS("p").At(1).CSS("::text"), []string{"two"}},
		{"one text", r.CSS("p::text").At(1), []string{"two"}},
	} {
		if got := tc.selection.All(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.what, got, tc.want)
		}
	}
}

func TestSelectionTextAndAttr(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", shelf)
	if got, want := r.CSS("#a").Text(), "own bold tailonetwo"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
	if got, want := r.CSS("#b p::text").Text(), "three"; got != want {
		t.Errorf("Text of texts = %q, want %q", got, want)
	}
	if got := r.CSS("a").Attr("href"); got != "/x" {
		t.Errorf("Attr = %q, want /x", got)
	}
	if got := r.CSS("a").Attr("none") + r.CSS("none").Attr("href") + r.CSS("a::text").Attr("href"); got != "" {
		t.Errorf("Attr of what has none = %q, want none", got)
	}
	if n := r.CSS("p").Nodes(); len(n) != 3 || n[0].Data != "p" {
		t.Errorf("Nodes = %v, want three p", n)
	}
	all := r.CSS("p::text").All()
	all[0] = "changed"
	if got := r.CSS("p::text").Get(); got != "one" {
		t.Errorf("Get = %q after a change to what All returned, want one", got)
	}
}

func TestSelectionStopEarly(t *testing.T) {
	t.Parallel()
	s := htmlPage("http://example.com/", shelf).CSS("p::text")
	for got := range s.Values() {
		if got != "one" {
			t.Errorf("Values went on to %q", got)
		}
		break
	}
	for one := range s.Each() {
		if got := one.Get(); got != "one" {
			t.Errorf("Each went on to %q", got)
		}
		break
	}
}

func TestInvalidSelectors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ selector, want string }{
		{"a[", ""},
		{"", ""},
		{"a,", ""},
		{"a)", ""},
		{"a::before", "unknown pseudo-element ::before"},
		{"a::text b", "unknown pseudo-element"},
		{"a::attr()", "needs the name"},
		{"a::attr", "unknown pseudo-element"},
		{"a, b::text", "all end in the same"},
		{"a::attr(x), b::attr(y)", "all end in the same"},
	} {
		r := htmlPage("http://example.com/", shelf)
		if got := r.CSS("p").CSS(tc.selector); got.Len() != 0 || got.Get() != "" {
			t.Errorf("%q selected %q, want nothing", tc.selector, got.All())
		}
		r.CSS("later[")
		err := r.SelectorErr()
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", tc.selector)) {
			t.Errorf("SelectorErr = %v, want %q named, with %q", err, tc.selector, tc.want)
		}
		if again := crawl.CompileCSS(tc.selector); again == nil || again.Error() != err.Error() {
			t.Errorf("CompileCSS = %v, want %v again", again, err)
		}
	}
	if err := crawl.CompileCSS("a::text"); err != nil {
		t.Errorf("CompileCSS of a valid selector: %v", err)
	}
}

// TestSelectorsMadeAtRunTime go on to work when there are too many to keep.
func TestSelectorsMadeAtRunTime(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", "<p id=x17>a</p>")
	found := 0
	for i := range 11_000 {
		found += r.CSS(fmt.Sprintf("#x%d", i)).Len()
	}
	if found != 1 {
		t.Errorf("found %d, want 1", found)
	}
}

func FuzzCSS(f *testing.F) {
	for _, s := range []string{"a::text", ` ::attr("x")`, `a[b="::,"], c`, `\,::text`, "a:not(b, c)::attr(d)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, selector string) {
		r := htmlPage("http://example.com/", shelf)
		s := r.CSS(selector)
		if err := crawl.CompileCSS(selector); (err == nil) != (r.SelectorErr() == nil) {
			t.Errorf("CompileCSS = %v, SelectorErr = %v", err, r.SelectorErr())
		}
		if len(s.All()) != s.Len() {
			t.Errorf("All has %d, Len is %d", len(s.All()), s.Len())
		}
	})
}
