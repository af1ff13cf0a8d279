package schedulertest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

func dupeRows() []row {
	return []row{
		{"DUP-03 case counts", false, caseCounts},
		{"DUP-06 the first duplicate is logged", false, firstLogged},
		{"DUP-07 every duplicate is logged", false, everyLogged},
		{"DUP-09 SCH-08 nothing is filtered", false, nothingFiltered},
		{"DUP-10 start URLs that are not filtered", false, startNotFiltered},
		{"what Start emits is known, filtered or not", false, startMarks},
		{"DUP-11 start URLs that are filtered", false, startFiltered},
	}
}

func caseCounts(t testing.TB, open crawlOpener) {
	h := start(t, open)
	if g := h.emit(h.pages("index.html", "INDEX.html")...); len(g.Refused) > 0 {
		t.Errorf("refused %v", g.Refused[0].Request)
	}
}

const index = "http://scrapytest.org/index.html"

// messages returns the messages of the log lines of duplicates.
func (h *harness) messages() (messages []string) {
	for _, l := range h.log.lines("Filtered duplicate") {
		_, m, _ := strings.Cut(l, `"message":"`)
		m, _, _ = strings.Cut(m, `"`)
		messages = append(messages, m)
	}
	return messages
}

func firstLogged(t testing.TB, open crawlOpener) {
	h := start(t, open)
	for range 3 {
		h.emit(h.entry(index))
	}
	if got := h.stats.Count("dupefilter/filtered"); got != 2 {
		t.Errorf("dupefilter/filtered is %d, want 2", got)
	}
	h.wantNames("log", h.messages(), "Filtered duplicate request: <GET "+index+
		"> - no more duplicates will be shown (see DUPEFILTER_DEBUG to show all duplicates)")
}

func everyLogged(t testing.TB, open crawlOpener) {
	h := start(t, open, with("DUPEFILTER_DEBUG=True"))
	h.emit(h.entry(index), h.entry(index), h.entry(index, func(r *crawl.Request) {
		r.Header = http.Header{"Referer": {"http://scrapytest.org/INDEX.html"}}
	}))
	h.wantNames("log", h.messages(),
		"Filtered duplicate request: <GET "+index+"> (referer: None)",
		"Filtered duplicate request: <GET "+index+"> (referer: http://scrapytest.org/INDEX.html)")
}

func nothingFiltered(t testing.TB, open crawlOpener) {
	h := start(t, open, with("DUPEFILTER_CLASS=none"))
	h.emit(h.pages("a", "a", "b")...)
	if h.has(h.page("a")) {
		t.Error("a request is known without a filter")
	}
	h.wantSet("all of them", h.drain(), "a", "a", "b")
}

func startNotFiltered(t testing.TB, open crawlOpener) {
	h := start(t, open)
	for range 3 {
		h.emit(h.page("a", dontFilter, isStart), h.page("b", dontFilter, isStart))
	}
	h.wantNames("all of them", h.drain(), "a", "b", "a", "b", "a", "b")
}

func startMarks(t testing.TB, open crawlOpener) {
	h := start(t, open)
	h.emit(h.page("a", dontFilter))
	if g := h.emit(h.page("a")); len(g.Refused) != 1 {
		t.Error("what Start emits is not known, only because it is not filtered itself")
	}
}

func startFiltered(t testing.TB, open crawlOpener) {
	h := start(t, open)
	for range 4 {
		h.emit(h.page("a", isStart), h.page("b", isStart), h.page("c", isStart))
	}
	h.wantNames("each once", h.drain(), "a", "b", "c")
}
