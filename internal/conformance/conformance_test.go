package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// outcomes are what a row of the family of these tests may ask for.
type outcome struct {
	Do   string
	File string
}

// TestRows is run by the other tests, in a process of its own and on a folder of
// theirs.
func TestRows(t *testing.T) {
	if os.Getenv(dirVariable) == "" {
		t.Skip("run by the other tests")
	}
	Run(t, "some/rows", func(r *Row, c outcome) {
		switch c.Do {
		case "fail":
			r.Equal([]int{1}, []int{2})
			r.Error("later")
		case "stop":
			r.Fatalf("stopped at %d", 3)
		case "skip":
			r.Skip("no such thing")
		case "panic":
			panic("lost")
		case "file":
			r.Equal(string(r.File(c.File)), "content")
		}
	})
}

// run runs TestRows on a file with these rows, and returns what it said, whether
// it went well, and its report if it is to write one.
func run(t *testing.T, reports bool, rows string) (out string, ok bool, report string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "some"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"rows.jsonl": rows, "a.bin": "content"} {
		if err := os.WriteFile(filepath.Join(dir, "some", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRows$", "-test.v")
	cmd.Env = append(os.Environ(), dirVariable+"="+dir, reportVariable+"=")
	path := filepath.Join(dir, "report")
	if reports {
		cmd.Env = append(cmd.Env, reportVariable+"="+path)
	}
	b, err := cmd.CombinedOutput()
	written, _ := os.ReadFile(path)
	return string(b), err == nil, string(written)
}

const passing = `{"id":"some/rows/1"}
{"id":"some/rows/2","do":"file","file":"some/a.bin"}
`

func TestRunJudges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rows string
		ok   bool
		says string
	}{
		"passed":       {passing, true, "some/rows 2 2"},
		"fails":        {passing + `{"id":"some/rows/3","do":"fail"}`, false, "got [1], want [2]"},
		"stops":        {`{"id":"some/rows/3","do":"stop"}`, false, "stopped at 3"},
		"is skipped":   {`{"id":"some/rows/3","do":"skip"}`, false, "no counterpart: no such thing"},
		"panics":       {`{"id":"some/rows/3","do":"panic"}`, false, "panic: lost"},
		"lacks a file": {`{"id":"some/rows/3","do":"file","file":"some/b.bin"}`, false, "b.bin"},
		"is unknown":   {`{"id":"some/rows/3","do":3}`, false, "read the row: json"},
		"is no JSON":   {passing + `{"id":`, false, "unexpected end"},
		"has no row":   {"", false, "has no row"},
	} {
		out, ok, _ := run(t, false, tt.rows)
		if ok != tt.ok || !strings.Contains(out, tt.says) {
			t.Errorf("%s: ok = %v, want %v and %q in\n%s", name, ok, tt.ok, tt.says, out)
		}
	}
}

func TestRunReports(t *testing.T) {
	t.Parallel()
	out, ok, report := run(t, true, passing+`{"id":"some/rows/3","do":"fail"}
{"id":"some/rows/4","do":"stop"}
{"id":"some/rows/5","do":"skip"}
{"id":"some/rows/6","do":"panic"}
{"id":"some/rows/7","do":["fail"]}
`)
	if !ok {
		t.Fatalf("a run that judges nothing fails:\n%s", out)
	}
	var f Family
	if err := json.Unmarshal([]byte(report), &f); err != nil || strings.Count(report, "\n") != 1 {
		t.Fatalf("%v in %q", err, report)
	}
	if f.Name != "some/rows" || f.Passed != 2 || f.Total != 7 || len(f.Failed) != 5 {
		t.Fatalf("report = %+v", f)
	}
	for i, why := range []string{"got [1], want [2]", "stopped at 3", "no counterpart: no such thing", "panic: lost"} {
		if got := f.Failed[i]; got.ID != "some/rows/"+string(rune('3'+i)) || strings.TrimSpace(got.Why) != why {
			t.Errorf("row %d = %+v, want %q", i, got, why)
		}
	}
	for name, rows := range map[string]string{"no JSON": "{", "lacks a file": `{"id":"x","do":"file","file":"some/b.bin"}`} {
		if out, ok, _ := run(t, true, rows); ok {
			t.Errorf("%s: want an error of the run\n%s", name, out)
		}
	}
}

func TestParseList(t *testing.T) {
	t.Parallel()
	const head = "# Page\n\n| a | `b` |\n\n### some/rows\n\n| reason | rows |\n|---|---|\n"
	list, err := parseList(head + "| too `odd` | `1` `2` |\n| why | `3` |\n\n## More\n\n| x | `4` |\n")
	if err != nil || len(list) != 3 || list["some/rows/2"] != "too `odd`" || list["some/rows/3"] != "why" {
		t.Errorf("list = %v, %v", list, err)
	}
	for _, wrong := range []string{"| a | `1` |\n| b | `1` |\n", "| | `1` |\n"} {
		if list, err := parseList(head + wrong); err == nil {
			t.Errorf("%q: list = %v, want an error", wrong, list)
		}
	}
}
