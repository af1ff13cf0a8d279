package crawl_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

func TestClone(t *testing.T) {
	t.Parallel()
	r := full()
	c := r.Clone()
	if !reflect.DeepEqual(c, r) {
		t.Errorf("got %+v, want %+v", c, r)
	}
	c.Header.Set("Accept", "changed")
	c.Body[0] = 'X'
	c.Meta["one"] = 2
	c.Cookies[0].Value, c.Cookies[0].Unparsed[0] = "changed", "changed"
	c.Cookies[1] = nil
	c.Options.Statuses[0] = 1
	c.Trail.Redirects[0].Status = 1
	if !reflect.DeepEqual(r, full()) {
		t.Errorf("the original changed with the copy: %+v", r)
	}
	if empty := (&crawl.Request{URL: "u"}).Clone(); !reflect.DeepEqual(empty, &crawl.Request{URL: "u"}) {
		t.Errorf("got %+v, want the URL alone", empty)
	}
}

func TestStrings(t *testing.T) {
	t.Parallel()
	get, post := &crawl.Request{URL: "http://a/"}, &crawl.Request{URL: "http://a/", Method: "POST"}
	for _, tc := range []struct {
		v    any
		want string
	}{
		{get, "<GET http://a/>"},
		{post, "<POST http://a/>"},
		{post.Verb() + get.Verb(), "POSTGET"},
		{&crawl.Response{URL: "http://a/", Status: 404}, "<404 http://a/>"},
		{crawl.Retry(get, "busy"), "retry <GET http://a/>: busy"},
		{crawl.Reschedule(post), "rescheduled as <POST http://a/>"},
		{crawl.Ignore("offsite"), "offsite"},
		{crawl.Drop("no price"), "no price"},
		{crawl.CloseSpider(""), "close spider: cancelled"},
		{crawl.CloseSpider("enough"), "close spider: enough"},
		{crawl.Undo(io.EOF), "undo: EOF"},
		{&crawl.Failure{Err: io.EOF}, "EOF"},
		{&crawl.DownloadError{Err: io.EOF}, "EOF"},
	} {
		if got := fmt.Sprint(tc.v); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want crawl.FailureKind
	}{
		{&crawl.DownloadError{Kind: crawl.FailTimeout, Err: io.EOF}, crawl.FailTimeout},
		{fmt.Errorf("fetch: %w", &crawl.DownloadError{Kind: crawl.FailDNS, Err: io.EOF}), crawl.FailDNS},
		{fmt.Errorf("fetch: %w", crawl.Ignore("offsite")), crawl.FailIgnored},
		{io.EOF, crawl.FailOther},
	} {
		if got := crawl.KindOf(tc.err); got != tc.want {
			t.Errorf("KindOf(%v) = %q, want %q", tc.err, got, tc.want)
		}
	}
	for _, err := range []error{
		crawl.Undo(io.EOF), &crawl.Failure{Err: io.EOF}, &crawl.DownloadError{Err: io.EOF},
	} {
		if !errors.Is(err, io.EOF) {
			t.Errorf("%T does not wrap its cause", err)
		}
	}
}

type lister struct{ stranger }

func (lister) AllowedDomains() []string { return []string{"own.example"} }

func TestEnv(t *testing.T) {
	t.Parallel()
	e := &crawl.Env{Spec: crawl.Spec{AllowedDomains: []string{"spec.example"}}, Spider: stranger{}}
	if got := e.AllowedDomains(); !slices.Equal(got, []string{"spec.example"}) {
		t.Errorf("got %q, want those of the spec", got)
	}
	e.Spider = lister{}
	if got := e.AllowedDomains(); !slices.Equal(got, []string{"own.example"}) {
		t.Errorf("got %q, want those of the spider", got)
	}
	var line lineWriter
	e.Log = zerolog.New(&line)
	log := e.Logger("dupefilter")
	log.Info().Msg("x")
	if want := `{"level":"info","logger":"dupefilter","message":"x"}` + "\n"; string(line) != want {
		t.Errorf("got %q, want %q", line, want)
	}
}

type lineWriter []byte

func (w *lineWriter) Write(b []byte) (int, error) { *w = append(*w, b...); return len(b), nil }
