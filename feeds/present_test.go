package feeds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A feed that someone takes away or changes while it is written is an error, not
// a loss in silence.
func TestFileDisturbed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disturb func(path string) error
		want    string
	}{
		"removed":   {os.Remove, "was removed"},
		"replaced":  {func(p string) error { return os.Rename(p+".other", p) }, "was replaced"},
		"truncated": {func(p string) error { return os.Truncate(p, 0) }, "was changed by someone else"},
		"continued": {func(p string) error { return appendTo(p, "x\n") }, "was changed by someone else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out.jsonl")
			if err := os.WriteFile(path+".other", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			f := NewFile(path)
			if err := f.Append([]byte("{}\n")); err != nil {
				t.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				t.Fatalf("undisturbed: %v", err)
			}
			if err := c.disturb(path); err != nil {
				t.Fatal(err)
			}
			if err := f.Sync(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Sync: %v, want %q", err, c.want)
			}
			if err := f.Close(true); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Close: %v, want %q", err, c.want)
			}
		})
	}
}

// What was cut in place is found before the next write hides it behind a hole.
func TestFileCutInPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.jsonl")
	f := NewFile(path)
	if err := f.Append([]byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1); err != nil {
		t.Fatal(err)
	}
	if err := f.Append([]byte("{}\n")); err == nil || !strings.Contains(err.Error(), "was changed by someone else") {
		t.Errorf("Append: %v", err)
	}
	if err := f.Close(false); err == nil {
		t.Error("Close forgets the failure")
	}
	if b, _ := os.ReadFile(path); string(b) != "{" {
		t.Errorf("the file holds %q", b)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Close()
}

// Two crawls do not write one file.
func TestFileInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.jsonl")
	first := NewFile(path)
	if err := first.Append([]byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if err := NewFile(path).Append([]byte("{}\n")); err == nil || !strings.Contains(err.Error(), "another process is writing it") {
		t.Errorf("second writer: %v", err)
	}
	if err := Check(Target{URI: path, Path: path, Format: "jsonlines"}); err == nil {
		t.Error("Check finds nothing wrong with a feed in use")
	}
	if err := first.Close(true); err != nil {
		t.Fatal(err)
	}
	if err := Check(Target{URI: path, Path: path, Format: "jsonlines"}); err != nil {
		t.Errorf("after the first has closed: %v", err)
	}
}

// A last line without an end is ended before the first item.
func TestFileJoin(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{"": "", "{}": "{}\n", "{}\n": "{}\n", "\n": "\n"} {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		f := NewFile(path)
		n, err := f.Join()
		if err != nil || int(n) != len(want)-len(before) {
			t.Errorf("%q: added %d, %v", before, n, err)
		}
		if err := f.Close(true); err != nil {
			t.Error(err)
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("%q became %q, want %q", before, got, want)
		}
	}
}
