package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	report, failed := filepath.Join(dir, "report"), filepath.Join(dir, "failed")
	lines := `{"family":"b/two","passed":1,"total":3,"failed":[{"id":"b/two/1","why":"got 1,\nwant 2"},{"id":"b/two/2","why":"` +
		strings.Repeat("é", 300) + `","reason":"known"}]}
{"family":"a/one","passed":5,"total":5}
`
	if err := os.WriteFile(report, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := os.MkdirAll(filepath.Join(dir, "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b/two.jsonl", "b/too.jsonl", "b/text.txt", "c.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(report, failed, dir, &out); err != nil {
		t.Fatal(err)
	}
	if want := "a/one 5 5\nb/two 1 3\nnot run: b/too c\n"; !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), failed) {
		t.Errorf("table = %q, want %q and the name of the file", out.String(), want)
	}
	b, err := os.ReadFile(failed)
	if want := "b/two\tb/two/1\tgot 1, want 2\nb/two\tb/two/2\t" + strings.Repeat("é", 200) + "… (known: known)\n"; err != nil || string(b) != want {
		t.Errorf("failed rows = %q, %v, want %q", b, err, want)
	}
	for broken, want := range map[string]string{"{": "read the report", "": "but 3 others [b/too b/two c]"} {
		if err := os.WriteFile(report, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(report, failed, dir, &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("report %q: %v, want an error with %q", broken, err, want)
		}
	}
	if err := run(filepath.Join(dir, "none"), failed, dir, &out); err == nil {
		t.Error("no report: want an error")
	}
}
