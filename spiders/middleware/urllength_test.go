package middleware

import (
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// UL-01.
func TestURLLength(t *testing.T) {
	env, log := newEnv(t, map[string]any{"URLLENGTH_LIMIT": 25})
	short := &crawl.Request{URL: "http://scrapytest.org/1"}
	exact := &crawl.Request{URL: "http://scrapytest.org/123"}
	long := &crawl.Request{URL: "http://scrapytest.org/this_is_a_long_url"}
	h := wrap(t, "urllength", env, emit(short, exact, long, "item"))
	for name, r := range map[string]*crawl.Response{"page": page(200, 0, crawl.Options{}), "Start": nil} {
		c, err := handle(t, h, r, nil)
		if err != nil || len(c.Items) != 1 || len(c.Requests) != 2 || c.Requests[0] != short || c.Requests[1] != exact {
			t.Errorf("%s: emitted %+v, %v", name, c, err)
		}
	}
	wantStats(t, env, map[string]int64{"urllength/request_ignored_count": 2})
	wantLog(t, log, `"level":"info","logger":"urllength","message":"Ignoring link (url length > 25): http://scrapytest.org/this_is_a_long_url "`, 2)
}

// UL-02.
func TestURLLengthOff(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"URLLENGTH_LIMIT": 0})
	build, err := Registry.Lookup("urllength")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := build(env); m != nil || err != nil {
		t.Errorf("without a limit it is there: %v", err)
	}
}
