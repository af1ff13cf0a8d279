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
	if err := run(report, failed, &out); err != nil {
		t.Fatal(err)
	}
	if want := "a/one 5 5\nb/two 1 3\n"; !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), failed) {
		t.Errorf("table = %q, want %q and the name of the file", out.String(), want)
	}
	b, err := os.ReadFile(failed)
	if want := "b/two\tb/two/1\tgot 1, want 2\nb/two\tb/two/2\t" + strings.Repeat("é", 200) + "… (known: known)\n"; err != nil || string(b) != want {
		t.Errorf("failed rows = %q, %v, want %q", b, err, want)
	}
	for _, broken := range []string{"{", ""} {
		if err := os.WriteFile(report, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(report, failed, &out); err == nil {
			t.Errorf("report %q: want an error", broken)
		}
	}
	if err := run(filepath.Join(dir, "none"), failed, &out); err == nil {
		t.Error("no report: want an error")
	}
}
