package httpcache

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// A cacheCase is one test of http-tests/cache-tests: requests in their order.
type cacheCase struct {
	Test, Kind  string
	Requests    []cacheMessage
	CDN         bool `json:"cdn_only"`
	BrowserSkip bool `json:"browser_skip"`
}

type cacheMessage struct {
	Method    string          `json:"request_method"`
	Header    []field         `json:"request_headers"`
	Body      string          `json:"request_body"`
	File      string          `json:"filename"`
	Query     string          `json:"query_arg"`
	Pause     bool            `json:"pause_after"`
	Locations bool            `json:"magic_locations"`
	Status    json.RawMessage `json:"response_status"` // number and phrase
	Reply     []field         `json:"response_headers"`
	Text      *string         `json:"response_body"`
	Cut       bool            `json:"disconnect"`

	Type        string          `json:"expected_type"`
	WantStatus  json.RawMessage `json:"expected_status"`
	WantHeader  []field         `json:"expected_response_headers"`
	WantMissing []field         `json:"expected_response_headers_missing"`
	WantAsked   []field         `json:"expected_request_headers"`
	WantMethod  string          `json:"expected_method"`
	WantText    *string         `json:"expected_response_text"`
}

// A field is a name with a text, a number of seconds from now for a date, or a
// least value.
type field struct {
	name  string
	text  string
	date  *int
	above *int
	any   bool // has no value
}

func (f *field) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		f.any = true
		return json.Unmarshal(b, &f.name)
	}
	var parts []any
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	f.name = parts[0].(string)
	switch v := parts[1].(type) {
	case float64:
		n := int(v)
		f.date = &n
	case string:
		f.text = v
		if v == ">" {
			n := int(parts[2].(float64))
			f.above = &n
		}
	}
	return nil
}

// value returns the text of a field whose date counts from a time.
func (f *field) value(now time.Time) string {
	if f.date == nil {
		return f.text
	}
	return now.Add(time.Duration(*f.date) * time.Second).UTC().Format(http.TimeFormat)
}

// statusOf reads a status, alone or with its phrase. 0 is none.
func statusOf(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		var pair []any
		if json.Unmarshal(raw, &pair) == nil && len(pair) > 0 {
			n = int(pair[0].(float64))
		}
	}
	return n
}

// run plays a case and returns what was not as it should be.
func (c *cacheCase) run(t *testing.T) error {
	o := newOrigin(t, map[string]any{"HTTPCACHE_POLICY": "rfc9111"})
	var served time.Time // when the origin answered last
	said, bodies := "", map[string]string{}
	for i := range c.Requests {
		m := &c.Requests[i]
		o.asked = nil
		o.answer = func(r *crawl.Request) (*crawl.Response, error) {
			served = time.Now()
			resp, err := c.reply(i, r)
			if err == nil {
				said = string(resp.Body)
			}
			if err == nil && m.Method == "" && m.Type != "cached" && resp.Status != http.StatusNotModified {
				bodies[r.URL] = said
			}
			return resp, err
		}
		r := &crawl.Request{URL: c.url(m.File, m.Query), Method: m.Method, Body: []byte(m.Body), Header: http.Header{}}
		for _, f := range m.Header {
			r.Header.Add(f.name, f.value(time.Now()))
		}
		resp, err := o.cache.Fetch(t.Context(), r)
		body := said
		if resp != nil && isCached(resp) {
			body = bodies[r.URL]
		}
		if err := m.check(o, resp, err, served, body); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		if m.Pause {
			<-time.After(3 * time.Second)
		}
	}
	return nil
}

func (c *cacheCase) url(file, query string) string {
	u := "http://cache.test/" + c.Test
	if file != "" {
		u += "/" + file
	}
	if query != "" {
		u += "?" + query
	}
	return u
}

// reply is what the origin of the test suite answers to the request of a number.
func (c *cacheCase) reply(i int, r *crawl.Request) (*crawl.Response, error) {
	m := &c.Requests[i]
	if m.Cut {
		return nil, errLost
	}
	resp := &crawl.Response{Request: r, URL: r.URL, Status: http.StatusOK, Header: http.Header{}}
	resp.Body = fmt.Appendf(nil, "body %d of %s", i, c.Test)
	if m.Text != nil {
		resp.Body = []byte(*m.Text)
	}
	if s := statusOf(m.Status); s != 0 {
		resp.Status = s
	}
	for _, f := range m.Reply {
		v := f.value(time.Now())
		if m.Locations && strings.HasSuffix(f.name, "Location") {
			v = c.url(v, "")
		}
		resp.Header.Add(f.name, v)
	}
	if resp.Header["Date"] == nil {
		resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	if strings.HasSuffix(m.Type, "validated") && i > 0 {
		resp.Status = 999
		if c.confirms(&c.Requests[i-1], r) {
			resp.Status, resp.Body = http.StatusNotModified, nil
		}
	}
	return resp, nil
}

// confirms reports whether a request has the condition that fits the response
// before.
func (c *cacheCase) confirms(before *cacheMessage, r *crawl.Request) bool {
	for _, f := range before.Reply {
		switch {
		case f.name == "ETag" && r.Header.Get("If-None-Match") == f.text:
			return true
		case f.name == "Last-Modified" && r.Header.Get("If-Modified-Since") != "" && (f.date != nil || r.Header.Get("If-Modified-Since") == f.text):
			return true
		}
	}
	return false
}

// check compares a response with what is expected. body is what the page is
// by what the origin has said so far.
func (m *cacheMessage) check(o *origin, resp *crawl.Response, err error, served time.Time, body string) error {
	if string(m.WantStatus) == "null" {
		if err == nil {
			return fmt.Errorf("answered with %v, want no response of the cache", resp)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := m.checkType(o, resp); err != nil {
		return err
	}
	want := statusOf(m.WantStatus)
	if want == 0 {
		want = statusOf(m.Status)
	}
	if want == 0 {
		want = http.StatusOK
	}
	if resp.Status != want {
		return fmt.Errorf("status %d, want %d", resp.Status, want)
	}
	if m.WantText != nil {
		body = *m.WantText
	} else if m.Text != nil {
		body = *m.Text
	}
	if string(resp.Body) != body {
		return fmt.Errorf("body %q, want %q", resp.Body, body)
	}
	return m.checkHeader(o, resp, served)
}

func (m *cacheMessage) checkType(o *origin, resp *crawl.Response) error {
	asked := len(o.asked) > 0
	ok := true
	switch m.Type {
	case "cached":
		ok = isCached(resp)
	case "not_cached":
		ok = asked && !isCached(resp)
	case "lm_validated":
		ok = asked && o.asked[0].Header.Get("If-Modified-Since") != ""
	case "etag_validated":
		ok = asked && o.asked[0].Header.Get("If-None-Match") != ""
	}
	if !ok {
		return fmt.Errorf("the server was asked: %v, flags %v, want %s", asked, resp.Flags, m.Type)
	}
	return nil
}

func (m *cacheMessage) checkHeader(o *origin, resp *crawl.Response, served time.Time) error {
	for _, f := range m.WantHeader {
		got := resp.Header.Get(f.name)
		n, _ := strconv.Atoi(got)
		switch {
		case f.any && got == "", f.above != nil && n <= *f.above, !f.any && f.above == nil && got != f.value(served):
			return fmt.Errorf("header %s is %q, want %+v", f.name, got, f)
		}
	}
	for _, f := range m.WantMissing {
		if got := resp.Header.Values(f.name); f.any && len(got) > 0 || slices.Contains(got, f.text) && f.text != "" {
			return fmt.Errorf("header %s is %q, want it gone", f.name, got)
		}
	}
	if len(o.asked) == 0 {
		if len(m.WantAsked) > 0 || m.WantMethod != "" {
			return fmt.Errorf("the server was not asked")
		}
		return nil
	}
	for _, f := range m.WantAsked {
		if got := o.asked[0].Header.Get(f.name); got != f.text {
			return fmt.Errorf("asked with %s %q, want %q", f.name, got, f.text)
		}
	}
	if got := o.asked[0].Verb(); m.WantMethod != "" && got != m.WantMethod {
		return fmt.Errorf("asked with %s, want %s", got, m.WantMethod)
	}
	return nil
}
