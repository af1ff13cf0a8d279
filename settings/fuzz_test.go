package settings

import (
	"reflect"
	"testing"
	"time"
)

// FuzzCoerce: whatever the text, coercion does not panic, and a value that it
// accepts survives being formatted and read again.
func FuzzCoerce(f *testing.F) {
	for _, text := range []string{
		"", "None", "True", "0.25", "250ms", "-1", "NaN", "1e999", "64MiB", "1.5GiB", "a,b", `["a",1]`, "[1e18]",
		"k=v,k2=v2", "k=None", `{"a": null, "b": [1, {"c": 2.50}]}`, `{"a": 1e400}`, `{"a": 9223372036854775807}`,
		"\xff,\xfe", "lifo", "WARN", "scrapy.squeues.PickleFifoDiskQueue", `{"scrapy.x.Y": null}`, "{} {}",
	} {
		f.Add(text)
	}
	defs := []Def{
		{Default: ""},
		{Default: false},
		{Default: 0},
		{Default: 0, ZeroIsOff: true},
		{Default: int64(0)},
		{Default: 0.0},
		{Default: time.Duration(0)},
		{Default: []string{}},
		{Default: []int{}, Check: statuses},
		{Default: map[string]int{}, Aliases: downloaderMiddlewares()},
		{Default: map[string]any{}},
		{Default: map[string]any{}, Check: headers},
		levelDef("LEVEL", "INFO", "x"),
		queueDef("QUEUE", "lifo", diskQueues(), "x", ""),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range defs {
			v, err := d.parse(text)
			if err != nil {
				continue
			}
			if reflect.TypeOf(v) != reflect.TypeOf(d.Default) {
				t.Fatalf("parse(%q) is a %T, want a %T", text, v, d.Default)
			}
			again, err := d.parse(Format(v))
			if err != nil || !reflect.DeepEqual(again, v) {
				t.Fatalf("%q is %#v, formatted %q, read again %#v, %v", text, v, Format(v), again, err)
			}
		}
	})
}

// FuzzDecode: a damaged config file is an error, never a panic.
func FuzzDecode(f *testing.F) {
	f.Add("yaml", []byte("A: {b.C: 1}\n? [1]\n: 2\n"))
	f.Add("toml", []byte("A.b = 1\n[C]\n\"d.E\" = 1979-05-27\n"))
	f.Add("json", []byte(`{"A": [1, {"b": null}]}`))
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		values, err := decode(ext, data)
		if err != nil {
			return
		}
		b := NewRegistry().Builder().addMap(Source{FromFile, "f"}, values)
		if s, _, err := b.Build(); (s == nil) == (err == nil) {
			t.Fatalf("Build() = %v, %v; want one of them", s, err)
		}
	})
}

// FuzzNearest: a name is nearest to itself, and the answer is one of the names.
func FuzzNearest(f *testing.F) {
	f.Add("JOBDRI", "JOBDIR")
	f.Add("é", "e")
	f.Fuzz(func(t *testing.T, name, other string) {
		got := Nearest(name, values(name, other))
		if name != "" && len(name) <= maxNear && distance(name, name) == 0 && got == "" {
			t.Fatalf("Nearest(%q) found nothing beside itself", name)
		}
		if got != "" && got != name && got != other {
			t.Fatalf("Nearest(%q) = %q", name, got)
		}
	})
}
