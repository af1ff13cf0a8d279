package feeds_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skeincrawl/skein/feeds"
)

func TestOverwriterReplacesAtACleanEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		old   string // "" for none
		items string
		clean bool
		want  string
	}{
		{"clean", "old\n", "new\n", true, "new\n"},
		{"unclean", "old\n", "new\n", false, "old\n"},
		{"clean without an old file", "", "new\n", true, "new\n"},
		{"unclean without an old file", "", "new\n", false, ""},
		{"clean without items", "old\n", "", true, ""},
		{"unclean without items", "old\n", "", false, "old\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "out.jl")
			if tc.old != "" {
				write(t, path, tc.old)
			}
			o := feeds.NewOverwriter(path)
			if tc.items != "" {
				if err := o.Append([]byte(tc.items)); err != nil {
					t.Fatal(err)
				}
			}
			if got := content(t, path); got != tc.old {
				t.Errorf("before the end the file holds %q, want %q", got, tc.old)
			}
			if err := o.Close(tc.clean); err != nil {
				t.Errorf("Close: %v", err)
			}
			if got := content(t, path); got != tc.want {
				t.Errorf("the file holds %q, want %q", got, tc.want)
			}
			wantTemp := !tc.clean && tc.items != ""
			if got := content(t, o.TempPath()); (got == tc.items && wantTemp) != wantTemp {
				t.Errorf("the temporary file holds %q", got)
			}
			if left := slices.Contains(names(t, dir), filepath.Base(o.TempPath())); left != wantTemp {
				t.Errorf("temporary file left: %v, want %v", left, wantTemp)
			}
		})
	}
}

func TestOverwriterKeepsPermissionsAndLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real.jl"), filepath.Join(dir, "link.jl")
	write(t, target, "old\n")
	if err := errors.Join(os.Chmod(target, 0o604), os.Symlink("real.jl", link)); err != nil {
		t.Skip(err)
	}
	o := feeds.NewOverwriter(link)
	if err := errors.Join(o.Append([]byte("new\n")), o.Close(true)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(target)
	if err != nil || info.Mode() != 0o604 {
		t.Errorf("the file has mode %v, %v, want 0604", info.Mode(), err)
	}
	if to, err := os.Readlink(link); err != nil || to != "real.jl" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if got := content(t, target); got != "new\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestOverwriterWhoseWriteFailedKeepsTheOldFile(t *testing.T) {
	if os.Getenv("FEEDS_LIMITED") == "" {
		runLimited(t)
		return
	}
	path := filepath.Join(t.TempDir(), "out.jl")
	write(t, path, "old\n")
	limitFileSize(t, 2)
	o := feeds.NewOverwriter(path)
	if err := o.Append([]byte("new\n")); err == nil {
		t.Fatal("Append beyond the limit succeeded")
	}
	if err := o.Close(true); err == nil {
		t.Error("Close does not tell that an Append failed")
	}
	if got := content(t, path); got != "old\n" {
		t.Errorf("the file holds %q, want the old items", got)
	}
}
