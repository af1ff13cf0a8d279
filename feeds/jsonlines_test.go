package feeds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/feeds/feedstest"
)

func jsonLines(tb testing.TB) feeds.Exporter {
	tb.Helper()
	e, err := feeds.NewJSONLines(feeds.ExporterOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func TestJSONLinesContract(t *testing.T) {
	t.Parallel()
	feedstest.Exporter(t, func() (feeds.Exporter, error) { return feeds.NewJSONLines(feeds.ExporterOptions{}) })
}

type book struct {
	Title string    `json:"title"`
	Price float64   `json:"price,omitempty"`
	Seen  time.Time `json:"seen"`
	Notes []note    `json:"notes"`
	inner int
}

type note struct{ Text string }

// quick renders itself.
type quick string

func (q quick) AppendJSON(dst []byte) ([]byte, error) {
	if q == "fail" {
		return append(dst, "half"...), errors.New("no luck")
	}
	return append(dst, q...), nil
}

// FE-02 (only the fields that are there, in declaration order), EX-08, EX-10,
// and FE-14 with an encoding of UTF-8. EX-01: a record keeps the order of its
// fields, a struct that of its type.
func TestJSONLinesGolden(t *testing.T) {
	t.Parallel()
	e := jsonLines(t)
	seen := time.Date(2015, 1, 1, 1, 1, 1, 0, time.UTC)
	var got []byte
	for _, item := range []any{
		crawl.Record{{Name: "z", Value: "Größe <b>&amp;</b>"}, {Name: "a", Value: 1}, {Name: "null", Value: nil}, {Name: "list", Value: []string{"x"}}, {Name: "when", Value: seen}},
		&crawl.Record{{Name: "pointer", Value: true}},
		crawl.Record{},
		book{Title: "TestÖ <i>&</i>", Seen: seen, Notes: []note{{"x\ny"}}, inner: 1},
		&book{Title: "日本", Price: 1.25, Seen: seen.Add(time.Millisecond)},
		map[string]any{"b": 1, "a": map[string]string{"k": "<v>"}},
		map[string]string{},
		json.RawMessage("{\n \"raw\": 1\n}"),
		quick(`{"quick":1}`),
	} {
		var err error
		if got, err = e.AppendItem(got, item); err != nil {
			t.Fatalf("item %v: %v", item, err)
		}
	}
	golden(t, "jsonlines.golden", got)
}

func TestJSONLinesRefuses(t *testing.T) {
	t.Parallel()
	e := jsonLines(t)
	const noObject = "it is no object"
	for _, tc := range []struct {
		name string
		item any
		want string
	}{
		{"nil", nil, "<nil> as JSON: " + noObject},
		{"string", "text", "string as JSON: " + noObject},
		{"number", 5, "int as JSON: " + noObject},
		{"slice", []string{"a"}, "[]string as JSON: " + noObject},
		{"time", time.Time{}, "time.Time as JSON: " + noObject},
		{"nil struct pointer", (*book)(nil), "*feeds_test.book as JSON: " + noObject},
		{"nil record pointer", (*crawl.Record)(nil), "*crawl.Record as JSON: " + noObject},
		{"nil pointer that renders itself", (*quick)(nil), "*feeds_test.quick as JSON: " + noObject},
		{"renders a list", quick(`[1]`), "feeds_test.quick as JSON: " + noObject},
		{"renders nothing", quick(""), "feeds_test.quick as JSON: " + noObject},
		{"renders lines", quick("{\"a\":\n1}"), "more than one line"},
		{"fails to render", quick("fail"), "no luck"},
		{"channel", map[string]any{"c": make(chan int)}, "unsupported type: chan int"},
		{"record with a channel", crawl.Record{{Name: "c", Value: make(chan int)}}, "field c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := e.AppendItem([]byte("before"), tc.item)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
			if string(got) != "before" {
				t.Errorf("returned %q with the error", got)
			}
		})
	}
}

// EX-09: an item that fails leaves no trace among the others.
func TestJSONLinesGoodBadGood(t *testing.T) {
	t.Parallel()
	e := jsonLines(t)
	var got []byte
	for _, item := range []any{map[string]int{"a": 1}, map[string]any{"b": func() {}}, map[string]int{"c": 3}} {
		got, _ = e.AppendItem(got, item)
	}
	if want := "{\"a\":1}\n{\"c\":3}\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzJSONLines compares each kind of item with what encoding/json makes of it.
func FuzzJSONLines(f *testing.F) {
	f.Add("name", "value <&> \u2028 Ö", 1.5, int64(-7), true)
	f.Add("", "\xff\x00\"\\\n", -1e-9, int64(1<<62), false)
	f.Add("a\nb", "😀\xed\xa0\x80", 1e300, int64(0), true)
	e := jsonLines(f)
	f.Fuzz(func(t *testing.T, key, text string, number float64, count int64, flag bool) {
		nested := map[string]any{key: text, "list": []any{text, flag, nil}}
		for _, item := range []any{
			crawl.Record{{Name: key, Value: text}, {Name: "n", Value: number}, {Name: "i", Value: int(count)}, {Name: "o", Value: nested}},
			map[string]any{key: text, "n": number, "i": count, "o": nested, "b": flag},
			struct {
				Text   string
				Number float64
				Nested map[string]any
				Bytes  []byte
			}{text, number, nested, []byte(text)},
		} {
			checkLine(t, e, item)
		}
	})
}

func checkLine(t *testing.T, e feeds.Exporter, item any) {
	t.Helper()
	got, err := e.AppendItem([]byte("x"), item)
	plain, plainErr := json.Marshal(item)
	if (err == nil) != (plainErr == nil) {
		t.Fatalf("%#v: error %v, encoding/json says %v", item, err, plainErr)
	}
	if err != nil {
		return
	}
	line, ok := bytes.CutSuffix(got[1:], []byte("\n"))
	if !ok || bytes.IndexByte(line, '\n') >= 0 {
		t.Fatalf("%#v: %q is not one line", item, got)
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(line, &a), json.Unmarshal(plain, &b)); err != nil {
		t.Fatalf("%#v: %q: %v", item, line, err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%#v: %q decodes to %v, that of encoding/json to %v", item, line, a, b)
	}
}

func BenchmarkJSONLines(b *testing.B) {
	e := jsonLines(b)
	for name, item := range map[string]any{
		"record": crawl.Record{{Name: "url", Value: "https://shop.test/p/1"}, {Name: "status", Value: 200}, {Name: "name", Value: "Item number 1"}, {Name: "price", Value: "$1.01"}, {Name: "desc", Value: "Description of item 1 & friends"}},
		"struct": struct{ URL, Name, Price, Desc string }{"https://shop.test/p/1", "Item number 1", "$1.01", "Description of item 1 & friends"},
		"map":    map[string]string{"url": "https://shop.test/p/1", "name": "Item number 1", "price": "$1.01"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst, _ = e.AppendItem(dst[:0], item)
			}
		})
	}
}
