package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// samples are good values of a setting in the spelling of a file, a different
// one for each layer where the setting has so many.
func samples(t *testing.T, d Def) []any {
	t.Helper()
	if d.Name == "DOWNLOAD_SLOTS" {
		one := map[string]any{"a.test": map[string]any{"delay": 1}}
		return []any{one, one, `{"b.test": {"concurrency": 2}}`, `{"*.c.test": {}}`}
	}
	if d.Name == "RETRY_EXCEPTIONS" {
		return []any{"dns", []string{"scrapy.exceptions.DownloadFailedError"}, `["data loss"]`, "DownloadTimeoutError,mypackage.BusyError"}
	}
	if len(d.Choices) > 0 {
		var out []any
		for _, c := range d.Choices {
			out = append(out, c)
		}
		return out
	}
	switch d.Default.(type) {
	case string:
		return []any{"a", "b", "c", "d"}
	case bool:
		return []any{"True", "False"}
	case int, int64:
		return []any{11, 12, 13, 14}
	case time.Duration:
		return []any{"11", 0.5, "13ms", "14s"}
	case float64:
		return []any{1.5, 2, "3", "0.5"}
	case []string:
		return []any{"a", []string{"b"}, `["c"]`, "d,e"}
	case []int:
		return []any{"401", []int{402}, "[403]", "404,405"}
	case map[string]int:
		return []any{map[string]any{"a": 1}, map[string]int{"b": Disabled}, `{"c": 3}`, "d=4"}
	case map[string]any:
		return []any{map[string]any{"a": "1"}, map[string]string{"b": "2"}, `{"c": "3"}`, "d=4"}
	}
	t.Fatalf("no sample for %s, a %T", d.Name, d.Default)
	return nil
}

// Every supported setting: default < file < spider < environment < -s, with
// the source of the value that won.
func TestEverySettingInEveryLayer(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	for d := range r.Defs() {
		if d.Status == Supported {
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel()
				climb(t, r, d, samples(t, d))
			})
		}
	}
}

func climb(t *testing.T, r *Registry, d Def, raws []any) {
	t.Helper()
	pick := func(i int) any { return raws[i%len(raws)] }
	file := filepath.Join(t.TempDir(), "crawl.json")
	data, err := json.Marshal(map[string]any{d.Name: pick(0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		source Source
		add    func(*Builder)
	}{
		{Source{FromFile, file}, func(b *Builder) { b.File(file) }},
		{Source{FromSpider, "spider q"}, func(b *Builder) { b.Spider("q", map[string]any{d.Name: pick(1)}) }},
		{Source{FromEnvironment, "CRAWL_" + d.Name}, func(b *Builder) { b.Environ([]string{fmt.Sprintf("CRAWL_%s=%v", d.Name, pick(2))}) }},
		{Source{FromCommandLine, "-s " + d.Name}, func(b *Builder) { b.Assign(fmt.Sprintf("%s=%v", d.Name, pick(3))) }},
	}
	expect(t, r.Builder(), d, Value{V: d.Default, Secret: d.Secret})
	for n := range steps {
		b := r.Builder()
		for i := n; i >= 0; i-- { // the order of the calls must not matter
			steps[i].add(b)
		}
		expect(t, b, d, Value{V: parsed(t, d, pick(n)), Source: steps[n].source, Secret: d.Secret})
	}
}

func parsed(t *testing.T, d Def, raw any) any {
	t.Helper()
	c, err := canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.parse(c)
	if err != nil {
		t.Fatalf("sample %v: %v", raw, err)
	}
	return v
}

func expect(t *testing.T, b *Builder, d Def, want Value) {
	t.Helper()
	s, warnings, err := b.Build()
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Build: %v, warnings %v", err, warnings)
	}
	if got, ok := s.Lookup(d.Name); !ok || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s = %#v, want %#v", d.Name, got, want)
	}
}

// Within one layer the later call counts (ST-04: equal priority replaces).
func TestLaterCallOfOneLayerWins(t *testing.T) {
	t.Parallel()
	s, _, err := NewRegistry().Builder().
		Spider("q", map[string]any{"JOBDIR": "a", "BOT_NAME": "spec"}).
		Configure("q", func(l *Layer) error {
			l.Set("JOBDIR", "b")
			l.Set("JOBDIR", "c")
			return nil
		}).
		Configure("q", nil).
		Assign("USER_AGENT=x").Assign("USER_AGENT=a=b,c=d").
		Build()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"JOBDIR": "c", "BOT_NAME": "spec", "USER_AGENT": "a=b,c=d"} {
		if got := s.String(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if v, _ := s.Lookup("JOBDIR"); v.Source != (Source{FromSpider, "spider q"}) {
		t.Errorf("source of JOBDIR = %v, want the spider", v.Source)
	}
}

// A spider keeps its maps: changing them later changes no snapshot, and
// changing what a snapshot returned does not either (ST-07).
func TestSnapshotIsImmutable(t *testing.T) {
	t.Parallel()
	nested := []any{"1"}
	headers := map[string]any{"A": nested}
	b := NewRegistry().Builder().Spider("q", map[string]any{"DEFAULT_REQUEST_HEADERS": headers})
	first, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	nested[0], headers["B"] = "2", "3"
	got := first.Map("DEFAULT_REQUEST_HEADERS")
	got["A"].([]any)[0], got["C"] = "4", "5"
	first.Orders("SPIDER_MIDDLEWARES_BASE")["depth"] = Disabled
	first.Ints("RETRY_HTTP_CODES")[0] = 0
	second, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"A": []any{"1"}}
	for _, s := range []*Settings{first, second} {
		if got := s.Map("DEFAULT_REQUEST_HEADERS"); !reflect.DeepEqual(got, want) {
			t.Errorf("headers = %v, want %v", got, want)
		}
		if got := s.Orders("SPIDER_MIDDLEWARES_BASE")["depth"]; got != 900 {
			t.Errorf("depth = %d, want 900", got)
		}
		if got := s.Ints("RETRY_HTTP_CODES")[0]; got != 500 {
			t.Errorf("first status = %d, want 500", got)
		}
	}
}
