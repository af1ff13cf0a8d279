package feeds_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
)

type fooEgg struct {
	Foo string `json:"foo,omitempty"`
	Egg string `json:"egg,omitempty"`
	Baz string `json:"baz,omitempty"`
}

type Address struct {
	Street string
	City   string `json:"city"`
	*Address
}

type outer struct {
	Name   string
	Skip   string `json:"-"`
	hidden int
	Address
	Tagged Address `json:"tagged,omitzero"`
	Name2  string  `json:"Name2,omitempty"`
}

func TestCSVColumns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		items []any
		want  string
		late  []string
	}{
		{
			"FE-01, EX-01 fields of the type, in its order",
			[]any{fooEgg{Egg: "e", Foo: "f"}, &fooEgg{Foo: "f2", Egg: "e2", Baz: "b2"}},
			"foo,egg,baz\r\nf,e,\r\nf2,e2,b2\r\n", nil,
		},
		{
			"FE-03 items of two types",
			[]any{&fooEgg{Foo: "f"}, note{"x"}, map[string]any{"egg": 1, "z": 2}},
			"foo,egg,baz\r\nf,,\r\n,,\r\n,1,\r\n",
			[]string{"Text", "z"},
		},
		{
			"FE-04, EX-01 the first item",
			[]any{crawl.Record{{Name: "foo", Value: "f"}, {Name: "egg", Value: "e"}}, map[string]any{"foo": "f2", "egg": "e2", "baz": "b2"}},
			"foo,egg\r\nf,e\r\nf2,e2\r\n",
			[]string{"baz"},
		},
		{
			"embedded structs",
			[]any{outer{Name: "n", Address: Address{Street: "s", City: "c"}, hidden: 1}},
			"Name,Street,city,tagged,Name2\r\nn,s,c,,\r\n", nil,
		},
		{"a type that renders itself", []any{quick(`{"b":1,"a":"\u00e9"}`)}, "b,a\r\n1,é\r\n", nil},
		{"a first item without fields is no item", []any{map[string]any{}, map[string]any{"a": 1}, map[string]any{}}, "a\r\n1\r\n\"\"\r\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var late []string
			o := feeds.ExporterOptions{Dropped: func(fields []string) { late = append(late, fields...) }}
			if got := export(t, "csv", o, tc.items...); got != tc.want || !slices.Equal(late, tc.late) {
				t.Errorf("got %q without %q\nwant %q without %q", got, late, tc.want, tc.late)
			}
		})
	}
}

// EX-04 and EX-05, but times are ISO 8601 and lists of numbers are joined too.
func TestCSVCells(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		value any
		want  string
	}{
		{"EX-04", []string{"Mary", "Paul"}, `"Mary,Paul"`},
		{"EX-04", []int{4, 8}, `"4,8"`},
		{"EX-05", false, "False"},
		{"EX-05", true, "True"},
		{"EX-05", 22, "22"},
		{"EX-05", 3.14, "3.14"},
		{"EX-05", time.Date(2015, 1, 1, 1, 1, 1, 0, time.UTC), "2015-01-01T01:01:01Z"},
		{"null", nil, ""},
		{"empty list", []string{}, ""},
		{"list of one", []any{"a"}, "a"},
		{"list with null", []any{"a", nil, true}, `"a,,True"`},
		{"object", map[string]any{"a": 1}, `"{""a"":1}"`},
		{"list of objects", []any{"x", map[string]any{"a": "b"}}, `"[""x"",{""a"":""b""}]"`},
		{"list of lists", [][]int{{1}, {2}}, `"[[1],[2]]"`},
		{"quotes", `say "hi"`, `"say ""hi"""`},
		{"lines", "a\r\nb", "\"a\r\nb\""},
		{"escapes", "tab\t\\ 日本 \u2028 <b>", "tab\t\\ 日本 \u2028 <b>"},
		{"bracket in text", "[a]", "[a]"},
		{"text like null", "null", "null"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			item := crawl.Record{{Name: "v", Value: tc.value}, {Name: "end", Value: 1}}
			if got, want := export(t, "csv", feeds.ExporterOptions{}, item), "v,end\r\n"+tc.want+",1\r\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestCSVOpen(t *testing.T) {
	t.Parallel()
	named := []feeds.Field{{Name: "a", Title: "A"}, {Name: "b", Title: "b"}}
	for _, tc := range []struct {
		name, in string
		fields   []feeds.Field
		want     string // the record of {a:1, b:2}
		err      string
	}{
		{name: "columns of the header", in: "b,c,a\r\n1,2,3\r\n", want: "2,,1\r\n"},
		{name: "of a spreadsheet", in: "\ufeffa,\"x\ny\",b\n1,2,3\n", want: "1,,2\r\n"},
		{name: "as the fields", in: "A,b\r\n", fields: named, want: "1,2\r\n"},
		{name: "not as the fields", in: "a,b\r\n", fields: named, err: "its header is a,b, but the fields to export are A,b"},
		{name: "no end", in: "a,b\r\n1,2", err: "its last line has no end"},
		{name: "no CSV", in: "a,\"b\n", err: "its header can not be read"},
		{name: "only empty lines", in: "\n\n", err: "its header can not be read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e, err := feeds.NewCSV(feeds.ExporterOptions{Fields: tc.fields})
			if err != nil {
				t.Fatal(err)
			}
			err = e.(feeds.Opener).Open(strings.NewReader(tc.in), int64(len(tc.in)))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("Open: %v, want %q", err, tc.err)
			}
			if err != nil {
				return
			}
			got, err := e.AppendItem(nil, map[string]int{"a": 1, "b": 2})
			if err != nil || string(got) != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// Whichever worker is first, there is one header for all.
func TestCSVColumnsAreSetOnce(t *testing.T) {
	t.Parallel()
	e, err := feeds.NewCSV(feeds.ExporterOptions{Dropped: func([]string) {}})
	if err != nil {
		t.Fatal(err)
	}
	heads := make([]string, 16)
	var wg sync.WaitGroup
	for i := range heads {
		wg.Go(func() {
			name := string(rune('a' + i))
			if _, err := e.AppendItem(nil, map[string]int{name: i}); err != nil {
				t.Error(err)
			}
			heads[i] = string(e.(feeds.Framer).Head())
		})
	}
	wg.Wait()
	if slices.Sort(heads); heads[0] != heads[len(heads)-1] || len(heads[0]) != 3 {
		t.Errorf("heads %q", heads)
	}
}

// Any reader gets back the texts of an item.
func FuzzCSV(f *testing.F) {
	f.Add("name", "value", "x")
	f.Add("a,b", "\"", "line\r\nline")
	f.Add("", "", "")
	f.Add("\\u0041", "\x00", "[{\"")
	f.Fuzz(func(t *testing.T, name, first, second string) {
		if !utf8.ValidString(name) || !utf8.ValidString(first) || !utf8.ValidString(second) {
			return
		}
		item := crawl.Record{{Name: name, Value: first}, {Name: name + "2", Value: second}}
		text := export(t, "csv", feeds.ExporterOptions{}, item)
		got, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(got) != 2 {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
		lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") } // as the reader does
		if want := []string{lf(first), lf(second)}; !slices.Equal(got[1], want) || got[0][0] != lf(name) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}

func BenchmarkAppendItem(b *testing.B) {
	item := crawl.Record{{Name: "url", Value: "https://shop.test/p/1"}, {Name: "title", Value: "A page, \"quoted\""}, {Name: "price", Value: 12}}
	for _, format := range []string{"jsonl", "json", "csv"} {
		b.Run(format, func(b *testing.B) {
			e, err := exporter(b, format, feeds.ExporterOptions{})()
			if err != nil {
				b.Fatal(err)
			}
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = e.AppendItem(buf[:0], item); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
