//go:build unix

package feeds_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skeincrawl/skein/feeds"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	write(t, at("old.jl"), "old\n")
	write(t, at("plain"), "")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", at("socket.jl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	err = errors.Join(os.Mkdir(at("dir.jl"), 0o755), os.Symlink("old.jl", at("link.jl")),
		os.Symlink("nowhere/new.jl", at("dangling.jl")), os.Symlink("loop.jl", at("loop.jl")), unix.Mkfifo(at("fifo.jl"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	for _, tc := range []struct {
		path, want string // want is part of the error, "" for none
	}{
		{at("old.jl"), ""},
		{at("new.jl"), ""},
		{at("a", "b", "c", "new.jl"), ""},
		{at("link.jl"), ""},
		{at("dangling.jl"), ""},
		{at("fifo.jl"), ""}, // without waiting for a reader
		{os.DevNull, ""},
		{"", ""}, // standard output
		{at("dir.jl"), "it is a directory"},
		{at("socket.jl"), "it is a socket"},
		{at("loop.jl"), "too many"},
		{at("plain", "new.jl"), at("plain") + " is a file, not a directory"},
		{at("plain", "a", "new.jl"), at("plain") + " is a file, not a directory"},
	} {
		for _, overwrite := range []bool{false, true} {
			err := feeds.Check(feeds.Target{URI: "the feed", Path: tc.path, Format: "jl", Overwrite: overwrite})
			var te *feeds.TargetError
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s (overwrite %v): %v", tc.path, overwrite, err)
			case tc.want != "" && (!errors.As(err, &te) || te.Target != "the feed" || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s (overwrite %v): got %v, want a TargetError with %q", tc.path, overwrite, err, tc.want)
			}
		}
	}
	if after := names(t, dir); !slices.Equal(after, before) {
		t.Errorf("Check left %v, there was %v", after, before)
	}
	if got := content(t, at("old.jl")); got != "old\n" {
		t.Errorf("Check changed the feed to %q", got)
	}
}

func TestCheckPermissions(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(closed, "writable.jl"), "old\n")
	write(t, filepath.Join(dir, "readonly.jl"), "old\n")
	if err := errors.Join(os.Chmod(closed, 0o555), os.Chmod(filepath.Join(dir, "readonly.jl"), 0o444)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	for _, tc := range []struct {
		path      string
		overwrite bool
		want      string
	}{
		{filepath.Join(dir, "readonly.jl"), false, "cannot write to it: permission denied"},
		{filepath.Join(closed, "new.jl"), false, "cannot make files in " + closed + ": permission denied"},
		{filepath.Join(closed, "writable.jl"), false, ""},
		{filepath.Join(closed, "writable.jl"), true, "cannot make files in"},
	} {
		err := feeds.Check(feeds.Target{URI: "x", Path: tc.path, Format: "jl", Overwrite: tc.overwrite})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", tc.path, err, tc.want)
		}
	}
}
