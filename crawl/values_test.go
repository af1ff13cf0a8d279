package crawl_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// SER-01: values come back with their types.
func TestValues(t *testing.T) {
	t.Parallel()
	v := crawl.Values{
		"one": 1, "dt": time.Date(2026, 5, 1, 12, 30, 0, 1000, time.FixedZone("", -5*3600)), "float": 2.0, "max": 1<<63 - 1,
		"text": "<é\u2028>", "none": nil, "on": true, "list": []any{1, map[string]any{"x": 1.5}},
	}
	b, err := json.Marshal(&v)
	if err != nil {
		t.Fatal(err)
	}
	got := crawl.Values{"of before": 1}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	at, want := got["dt"].(time.Time), v["dt"].(time.Time)
	if _, offset := at.Zone(); !at.Equal(want) || offset != -5*3600 {
		t.Errorf("the time is %v, want %v", at, want)
	}
	delete(got, "dt")
	delete(v, "dt")
	if !reflect.DeepEqual(got, v) {
		t.Errorf("got %#v, want %#v", got, v)
	}
}

func TestValuesNil(t *testing.T) {
	t.Parallel()
	var v crawl.Values
	if b, err := json.Marshal(&v); string(b) != "{}" || err != nil {
		t.Errorf("nil is stored as %s, %v, want {}", b, err)
	}
	for _, text := range []string{"{}", "null"} {
		v = nil
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Error(err)
		}
		v["usable"] = true
	}
}

func TestValuesErrors(t *testing.T) {
	t.Parallel()
	if _, err := json.Marshal(crawl.Values{"a": []any{func() {}}}); err == nil || !strings.Contains(err.Error(), `Values["a"][0] is a func()`) {
		t.Errorf("a function: %v, want the key named", err)
	}
	for _, text := range []string{`[]`, `{"a":{"$time":1}}`, `{"a":123456789012345678901}`} {
		v := crawl.Values{"kept": 1}
		if err := json.Unmarshal([]byte(text), &v); err == nil || len(v) != 1 {
			t.Errorf("%s: %v, %v, want an error and the values as they were", text, v, err)
		}
	}
}
