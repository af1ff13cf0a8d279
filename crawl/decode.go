package crawl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// record is the stored form of a request.
type record struct {
	recordHead
	Header  http.Header     `json:"header"`
	Jar     string          `json:"jar"`
	Cookies []storedCookie  `json:"cookies"`
	Options Options         `json:"options"`
	Meta    json.RawMessage `json:"meta"`
}

// recordHead is what means something without the spider.
type recordHead struct {
	URL        string          `json:"url"`
	Method     string          `json:"method"`
	Callback   string          `json:"callback"`
	Errback    string          `json:"errback"`
	Priority   int             `json:"priority"`
	DontFilter bool            `json:"dont_filter"`
	NotBefore  int64           `json:"not_before"` // Unix milliseconds
	Depth      int             `json:"depth"`
	Retries    int             `json:"retries"`
	Start      bool            `json:"start"`
	Unfiltered bool            `json:"unfiltered"`
	Trail      *Trail          `json:"trail"`
	Body       []byte          `json:"body"`
	Args       json.RawMessage `json:"args"`
}

func (h *recordHead) trail() Trail {
	if h.Trail != nil {
		return *h.Trail
	}
	return Trail{Depth: h.Depth, Retries: h.Retries, Start: h.Start, Unfiltered: h.Unfiltered}
}

func (h *recordHead) notBefore() time.Time {
	if h.NotBefore == 0 {
		return time.Time{}
	}
	return time.UnixMilli(h.NotBefore)
}

// DecodeRequest reads what [Callbacks.AppendRequest] wrote.
func (c *Callbacks) DecodeRequest(b []byte) (*Request, error) {
	var rec record
	if err := json.Unmarshal(b, &rec); err != nil {
		return nil, fmt.Errorf("decode a stored request: %w", err)
	}
	if rec.URL == "" {
		return nil, errors.New("decode a stored request: it has no URL")
	}
	r := &Request{
		URL: rec.URL, Method: rec.Method, Header: rec.Header, Body: rec.Body, Priority: rec.Priority,
		Jar: rec.Jar, DontFilter: rec.DontFilter, Options: rec.Options, NotBefore: rec.notBefore(), Trail: rec.trail(),
	}
	err := decodeHeader(r.Header)
	if err == nil {
		err = unarmor(r.texts())
	}
	if err != nil {
		return nil, fmt.Errorf("decode a stored request: %w", err)
	}
	if r.Cookies, err = loadCookies(rec.Cookies); err != nil {
		return nil, fmt.Errorf("decode a stored request: %w", err)
	}
	if rec.Meta != nil {
		m, err := decodeMeta(rec.Meta)
		if err != nil {
			return nil, fmt.Errorf("decode Meta of a stored request: %w", err)
		}
		r.Meta = m
	}
	if err := c.bind(r, rec.Callback, rec.Errback, rec.Args); err != nil {
		return nil, fmt.Errorf("decode the stored request %v: %w", r, err)
	}
	return r, nil
}

func decodeHeader(h http.Header) error {
	for _, vs := range h {
		for i, v := range vs {
			var err error
			if vs[i], err = unarmored(v); err != nil {
				return fmt.Errorf("header value: %w", err)
			}
		}
	}
	return nil
}

// texts yields the texts of a request that are armored in its stored form, but
// for those of its header and cookies.
func (r *Request) texts() iter.Seq[*string] {
	return func(yield func(*string) bool) {
		if yield(&r.Jar) {
			r.Options.texts()(yield)
		}
	}
}

// texts yields the texts of the options.
func (o *Options) texts() iter.Seq[*string] {
	return slices.Values([]*string{
		&o.Slot, &o.Proxy, &o.BindAddress, &o.ReferrerPolicy, &o.HTTPUser, &o.HTTPPass, &o.HTTPDomain, &o.FTPUser, &o.FTPPassword,
		&o.FTPMode, &o.FTPLocalFilename, &o.GiveUpLevel,
	})
}

// unarmor undoes armored for each text.
func unarmor(texts iter.Seq[*string]) error {
	for text := range texts {
		var err error
		if *text, err = unarmored(*text); err != nil {
			return err
		}
	}
	return nil
}

// unarmored undoes armored.
func unarmored(s string) (string, error) {
	if !strings.HasPrefix(s, "\x00") {
		return s, nil
	}
	b, err := base64.StdEncoding.DecodeString(s[1:])
	return string(b), err
}

func decodeMeta(b []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	for k, v := range m {
		if k == timeKey {
			return nil, fmt.Errorf("the key %q is reserved", timeKey)
		}
		w, err := metaValue(v)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", k, err)
		}
		m[k] = w
	}
	return m, nil
}

// metaValue turns what the JSON decoder makes into what was stored.
func metaValue(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return v.Float64()
		}
		return strconv.Atoi(v.String())
	case []any:
		for i := range v {
			w, err := metaValue(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = w
		}
		return v, nil
	case map[string]any:
		return metaMap(v)
	}
	return v, nil
}

func metaMap(m map[string]any) (any, error) {
	if v, ok := m[timeKey]; ok {
		s, ok := v.(string)
		if !ok || len(m) > 1 {
			return nil, fmt.Errorf("the key %q is reserved", timeKey)
		}
		return time.Parse(time.RFC3339Nano, s)
	}
	for k, v := range m {
		w, err := metaValue(v)
		if err != nil {
			return nil, err
		}
		m[k] = w
	}
	return m, nil
}

// CopyMeta returns a copy of Meta as it would come back from a queue. The error
// names the key that can not be stored.
func CopyMeta(m map[string]any) (map[string]any, error) {
	if len(m) == 0 {
		return nil, nil
	}
	b, err := appendMap(nil, "Meta", m)
	if err != nil {
		return nil, err
	}
	return decodeMeta(b)
}
