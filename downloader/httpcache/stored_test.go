package httpcache

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// RFC 9111 §3.1: what a Connection header names is of the connection, in whatever
// letter case. A long one takes no longer for each of many fields.
func TestKept(t *testing.T) {
	t.Parallel()
	const many = 100_000
	h := http.Header{"X-Mine": {"1"}, "X-Hop": {"1"}, "X-Third": {"1"}, "Upgrade": {"h2c"}}
	var names strings.Builder
	for i := range many {
		names.WriteString("x" + strconv.Itoa(i) + ",")
		h["Y"+strconv.Itoa(i)] = nil
	}
	h["Connection"] = []string{names.String(), "close, x-hOP ,X-THIRD"}
	got := kept(h)
	if len(got) != many+1 || got.Get("X-Mine") != "1" {
		t.Errorf("%d fields are kept, want %d and X-Mine", len(got), many)
	}
}
