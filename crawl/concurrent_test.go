package crawl_test

import (
	"sync"
	"testing"
)

// TestResponseIsSafeForConcurrentUse says something only under -race.
func TestResponseIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", `<base href=/b/><p>x</p><a href=a>t</a>`)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for step := range 5 {
				switch (i + step) % 5 {
				case 0:
					if n := r.Doc().Find("p").Length(); n != 1 {
						t.Errorf("Doc: got %d p, want 1", n)
					}
				case 1:
					if got := r.CSS("p::text").Get(); got != "x" {
						t.Errorf("CSS: got %q, want x", got)
					}
				case 2:
					if got := links(r); len(got) != 1 || got[0] != "http://example.com/b/a" {
						t.Errorf("Links: got %q, want /b/a", got)
					}
				case 3:
					if got := r.Text(); got != string(r.Body) {
						t.Errorf("Text: got %q, want the body", got)
					}
				default:
					r.CSS("p[")
					if r.SelectorErr() == nil {
						t.Error("SelectorErr = nil, want the invalid selector")
					}
				}
			}
		})
	}
	wg.Wait()
}
