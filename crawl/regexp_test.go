package crawl_test

import (
	"slices"
	"strings"
	"testing"
)

func TestRe(t *testing.T) {
	t.Parallel()
	const page = `<ul><li>Name: Ann, Age: 10<li>Age: 20 &amp; &lt; &quot;q&quot; &eacute;<li data-x="v">Age: x</ul>`
	for _, tt := range []struct {
		name, css, pattern string
		want               []string
	}{
		{"matches", "li", `Age: \d+`, []string{"Age: 10", "Age: 20"}},
		{"a group", "li::text", `Age: (\w+)`, []string{"10", "20", "x"}},
		{"groups", "li::text", `(\w+): (\d+)`, []string{"Age", "10", "Age", "20"}},
		{"a group that takes no part", "li::text", `(Name)|(Age)`, []string{"Name", "", "", "Age", "", "Age", "", "Age"}},
		{"extract", "li::text", `(\w+): (?P<extract>\w+)`, []string{"Ann", "20", "x"}},
		{"markup of elements", "li:last-child", `x="(\w)"`, []string{"v"}},
		{"attributes", "li::attr(data-x)", `.`, []string{"v"}},
		{"character references", "li:nth-child(2)", `&.*é`, []string{`&amp; &lt; "q" é`}},
		{"nothing", "li", "zzz", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := htmlPage("http://example.com/", page).CSS(tt.css)
			got := s.Re(tt.pattern)
			if !slices.Equal(got, tt.want) {
				t.Errorf("Re = %q, want %q", got, tt.want)
			}
			if first := s.ReFirst(tt.pattern); first != strings.Join(got[:min(1, len(got))], "") {
				t.Errorf("ReFirst = %q, want that of %q", first, got)
			}
		})
	}
}

func TestInvalidRe(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", shelfPage)
	if got := r.CSS("p").Re("("); got != nil {
		t.Errorf("got %q", got)
	}
	if err := r.SelectorErr(); err == nil || !strings.HasPrefix(err.Error(), `invalid regular expression "("`) {
		t.Errorf("got %v", err)
	}
}
