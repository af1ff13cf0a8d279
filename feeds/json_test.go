package feeds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/feeds/feedstest"
)

// exporter returns what makes an exporter of a format.
func exporter(tb testing.TB, format string, o feeds.ExporterOptions) func() (feeds.Exporter, error) {
	tb.Helper()
	construct, err := feeds.Exporters.Lookup(format)
	if err != nil {
		tb.Fatal(err)
	}
	return func() (feeds.Exporter, error) { return construct(o) }
}

// export renders a whole feed, without the items that the format can not hold.
func export(tb testing.TB, format string, o feeds.ExporterOptions, items ...any) string {
	tb.Helper()
	e, err := exporter(tb, format, o)()
	if err != nil {
		tb.Fatal(err)
	}
	framer, framed := e.(feeds.Framer)
	var out []byte
	for _, item := range items {
		one, err := e.AppendItem(nil, item)
		if err != nil {
			continue
		}
		if framed && len(out) == 0 {
			out = append(out, framer.Head()...)
		} else if framed {
			out = append(out, framer.Separator()...)
		}
		out = append(out, one...)
	}
	if framed && len(out) == 0 {
		out = append(out, framer.Head()...)
	}
	if framed {
		out = append(out, framer.Tail()...)
	}
	return string(out)
}

func TestExporterContracts(t *testing.T) {
	t.Parallel()
	fields := []feeds.Field{{Name: "name", Title: "Name, \"quoted\""}, {Name: "url", Title: "url"}}
	for name, o := range map[string]feeds.ExporterOptions{
		"plain": {}, "compact": {Indent: feeds.Compact}, "indented": {Indent: 2}, "fields": {Fields: fields},
	} {
		for _, format := range []string{"jsonlines", "json", "csv"} {
			t.Run(format+" "+name, func(t *testing.T) {
				t.Parallel()
				feedstest.Exporter(t, exporter(t, format, o))
			})
		}
	}
}

// FE-09 to FE-12. JSON has no blanks where Python writes some.
func TestJSONLayout(t *testing.T) {
	t.Parallel()
	two := []any{map[string]any{"foo": []string{"bar"}}, map[string]any{"key": "value"}}
	for _, tc := range []struct {
		name   string
		indent int
		items  []any
		want   string
	}{
		{"FE-09 compact", feeds.Compact, nil, "[]"},
		{"FE-09 lines", 0, nil, "[\n\n]\n"},
		{"FE-10", feeds.Compact, two, `[{"foo":["bar"]},{"key":"value"}]`},
		{"FE-11", 0, two, "[\n{\"foo\":[\"bar\"]},\n{\"key\":\"value\"}\n]\n"},
		{"FE-12", 2, two, "[\n{\n  \"foo\": [\n    \"bar\"\n  ]\n},\n{\n  \"key\": \"value\"\n}\n]\n"},
		{"EX-09 a bad one between", 0, []any{two[0], map[string]any{"x": math.NaN()}, two[1]}, "[\n{\"foo\":[\"bar\"]},\n{\"key\":\"value\"}\n]\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := export(t, "json", feeds.ExporterOptions{Indent: tc.indent}, tc.items...)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("%q is no JSON", got)
			}
		})
	}
}

// FE-05 to FE-07 and EX-02.
func TestFields(t *testing.T) {
	t.Parallel()
	items := []any{
		crawl.Record{{Name: "foo", Value: "1"}, {Name: "bar", Value: []int{1}}, {Name: "baz", Value: nil}},
		crawl.Record{{Name: "baz", Value: map[string]string{"a": ",}"}}, {Name: "other", Value: 1}},
	}
	renamed := []feeds.Field{{Name: "baz", Title: "名稱"}, {Name: "foo", Title: "Foo \"x\" <b>"}}
	for _, tc := range []struct {
		name, format string
		fields       []feeds.Field
		want         string
	}{
		{"FE-05", "jsonl", nil, "{\"foo\":\"1\",\"bar\":[1],\"baz\":null}\n{\"baz\":{\"a\":\",}\"},\"other\":1}\n"},
		{"FE-06", "jsonl", []feeds.Field{{"baz", "baz"}, {"foo", "foo"}}, "{\"baz\":null,\"foo\":\"1\"}\n{\"baz\":{\"a\":\",}\"}}\n"},
		{"FE-06", "csv", []feeds.Field{{"baz", "baz"}, {"foo", "foo"}}, "baz,foo\r\n,1\r\n\"{\"\"a\"\":\"\",}\"\"}\",\r\n"},
		{"FE-07", "json", renamed, "[\n{\"名稱\":null,\"Foo \\\"x\\\" <b>\":\"1\"},\n{\"名稱\":{\"a\":\",}\"}}\n]\n"},
		{"FE-07", "csv", renamed, "名稱,\"Foo \"\"x\"\" <b>\"\r\n,1\r\n\"{\"\"a\"\":\"\",}\"\"}\",\r\n"},
	} {
		t.Run(tc.name+" "+tc.format, func(t *testing.T) {
			t.Parallel()
			dropped := func(fields []string) { t.Errorf("fields %q count as dropped", fields) }
			if got := export(t, tc.format, feeds.ExporterOptions{Fields: tc.fields, Dropped: dropped}, items...); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestJSONContinue(t *testing.T) {
	t.Parallel()
	const unfit, noItems = "does not hold a whole JSON array", "does not end with an object"
	blank := strings.Repeat(" \n", 700)
	for _, tc := range []struct {
		in   string
		want int64
		err  string
	}{
		{" \n", 0, ""},
		{"[]", 0, ""},
		{"[\n\n]\n", 0, ""},
		{"[\n{}\n]\n", 4, ""},
		{`[{"a":1},{"b":[]}]`, 17, ""},
		{blank + "[{}" + blank + "]" + blank, 1403, ""},
		{"[\n{}", 0, unfit},
		{"{}\n", 0, unfit},
		{"{}]", 0, unfit},
		{"]", 0, unfit},
		{"[", 0, unfit},
		{"a,b\r\n1,2\r\n", 0, unfit},
		{"[1, 2]", 0, noItems},
		{"[{},]", 0, noItems},
	} {
		t.Run(fmt.Sprintf("%.20q", tc.in), func(t *testing.T) {
			t.Parallel()
			e, err := feeds.NewJSON(feeds.ExporterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.(feeds.Continuer).Continue(strings.NewReader(tc.in), int64(len(tc.in)))
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %d, %v, want %d, %q", got, err, tc.want, tc.err)
			}
		})
	}
}

// What a whole array of objects holds is kept, whatever its layout, and it is
// an array again.
func FuzzJSONContinue(f *testing.F) {
	for _, s := range []string{"[]", "[{}]", " [ {\"a\":1} , {} ]\n", "[{}", "{}", "[1]", "]["} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		e, err := feeds.NewJSON(feeds.ExporterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := e.(feeds.Continuer).Continue(bytes.NewReader(b), int64(len(b)))
		var before []json.RawMessage
		whole := json.Unmarshal(b, &before) == nil && before != nil
		if n < 0 || n > int64(len(b)) || err != nil && n != 0 {
			t.Fatalf("%q: %d, %v", b, n, err)
		}
		if err != nil || !whole {
			return
		}
		more := append(append(b[:n:n], ",\n{}"...), "\n]\n"...)
		if n == 0 {
			more = []byte("[\n{}\n]\n")
		}
		var after []json.RawMessage
		if err := json.Unmarshal(more, &after); err != nil || len(after) != len(before)+1 {
			t.Errorf("%q becomes %q: %v", b, more, err)
		}
	})
}
