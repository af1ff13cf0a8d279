package httpcache

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// openAt returns the storage of a spider below root.
func openAt(t *testing.T, root, spider string, values map[string]any) Storage {
	t.Helper()
	all := map[string]any{"HTTPCACHE_DIR": root}
	maps.Copy(all, values)
	env, _ := newEnv(t, all)
	env.Spec.Name = spider
	s, err := newFilesystem(env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keyNumbered(n int) string { return fmt.Sprintf("%02x%038x", n%256, n) }

// put saves a record that was written some time ago.
func put(t *testing.T, s Storage, key string, size int, age time.Duration) {
	t.Helper()
	if err := s.Save(t.Context(), key, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-age)
	if err := os.Chtimes(s.(*filesystem).path(key), then, then); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, s Storage, key string) bool {
	t.Helper()
	record, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return record != nil
}

// Above HTTPCACHE_MAX_SIZE the oldest entries go, of all spiders, and nothing else that lies in the folder.
func TestMaxSize(t *testing.T) {
	root := filepath.Join(t.TempDir(), "odd[name]*")
	unlimited := openAt(t, root, "other", nil)
	for i := range 5 {
		put(t, unlimited, keyNumbered(i), 1000, time.Duration(100-i)*time.Hour)
	}
	foreign := []string{"other/00/notes.txt", "other/ff/" + keyNumbered(1), "other/zz/" + keyNumbered(0), keyNumbered(0)}
	for _, name := range foreign {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 100_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	limited := openAt(t, root, "mine", map[string]any{"HTTPCACHE_MAX_SIZE": 10_000})
	for i := range 6 { // the last makes it 11,000, and 9,000 may stay
		put(t, limited, keyNumbered(10+i), 1000, time.Hour)
	}
	for i := range 5 {
		if got, want := has(t, unlimited, keyNumbered(i)), i >= 2; got != want {
			t.Errorf("entry %d is there: %v, want %v", i, got, want)
		}
	}
	for i := range 6 {
		if !has(t, limited, keyNumbered(10+i)) {
			t.Errorf("entry %d of this spider is gone", i)
		}
	}
	for _, name := range foreign {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Errorf("%s is no entry: %v", name, err)
		}
	}
}

// What is larger than the limit does not stay.
func TestTooLargeForTheCache(t *testing.T) {
	s := openAt(t, t.TempDir(), "x", map[string]any{"HTTPCACHE_MAX_SIZE": 100})
	put(t, s, keyNumbered(1), 50, time.Hour)
	if err := s.Save(t.Context(), keyNumbered(2), make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if has(t, s, keyNumbered(1)) || has(t, s, keyNumbered(2)) {
		t.Error("an entry is left, want none: the newest alone is larger than the limit")
	}
}

// The first Save removes what has expired.
func TestSweep(t *testing.T) {
	root := t.TempDir()
	before := openAt(t, root, "x", nil)
	put(t, before, keyNumbered(1), 10, 25*time.Hour)
	put(t, before, keyNumbered(2), 10, 23*time.Hour)
	s := openAt(t, root, "x", map[string]any{"HTTPCACHE_EXPIRATION_SECS": "24h"})
	put(t, s, keyNumbered(3), 10, 0)
	if _, err := os.Stat(before.(*filesystem).path(keyNumbered(1))); err == nil {
		t.Error("an entry is left that has expired")
	}
	if !has(t, s, keyNumbered(2)) || !has(t, s, keyNumbered(3)) {
		t.Error("an entry is gone that has not expired")
	}
}

// The first Save removes what crashes left behind, whatever the settings are, but not what another crawl is writing.
func TestSweepUnfinished(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"plain": nil, "expiration": {"HTTPCACHE_EXPIRATION_SECS": "24h"}, "size": {"HTTPCACHE_MAX_SIZE": 1 << 20},
	} {
		root := t.TempDir()
		for _, spider := range []string{"x", "y"} {
			dir := filepath.Join(root, spider, "new")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, age := range map[string]time.Duration{"new-1": 2 * time.Hour, "new-2": time.Minute, "mine": 2 * time.Hour} {
				path, then := filepath.Join(dir, file), time.Now().Add(-age)
				if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, then, then); err != nil {
					t.Fatal(err)
				}
			}
		}
		put(t, openAt(t, root, "x", values), keyNumbered(3), 10, 0)
		left, err := filepath.Glob(filepath.Join(root, "*", "new", "*"))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{filepath.Join(root, "x", "new", "mine"), filepath.Join(root, "x", "new", "new-2"), filepath.Join(root, "y", "new", "mine"), filepath.Join(root, "y", "new", "new-2")}
		if !slices.Equal(left, want) {
			t.Errorf("%s: left are %q, want %q", name, left, want)
		}
	}
}

// An entry that is being written lies where a start looks for what crashes left, not among all others.
func TestUnfinishedFolder(t *testing.T) {
	s := openAt(t, t.TempDir(), "x", nil).(*filesystem)
	path := s.path(keyNumbered(1))
	if err := os.MkdirAll(path, 0o700); err != nil { // in the way of the entry
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), keyNumbered(1), []byte("record")); err == nil || !strings.Contains(err.Error(), filepath.Join(s.dir, "new", "new-")) {
		t.Errorf("error %v, want one that names a file in the folder new", err)
	}
}

// A process that died while it wrote leaves the entry as it was, and no entry where none was.
func TestKilledWhileWriting(t *testing.T) {
	o := newOrigin(t, nil)
	o.says(200, "first")
	o.get(t)
	file := o.files(t)[0]
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) { // what a write that was cut leaves: a file beside
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "..", "new", fmt.Sprintf("new-%d", n)), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.fails(errLost)
	wantBody(t, o.get(t), "first", true)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := o.cache.Fetch(t.Context(), &crawl.Request{URL: page}); err == nil {
		t.Error("half an entry was taken for one")
	}
	o.wantStats(t, map[string]int64{"retrieve_error": 0})
}

// Each spider has a folder of its own below HTTPCACHE_DIR, whatever its name.
func TestFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "cache")
	for _, name := range []string{"books", "a/b", "..", ".", ""} {
		s := openAt(t, root, name, nil).(*filesystem)
		rel, err := filepath.Rel(root, s.path(keyNumbered(7)))
		if err != nil || strings.Count(rel, string(filepath.Separator)) != 2 || !filepath.IsLocal(rel) {
			t.Errorf("spider %q: %s, %v, want SPIDER/07/KEY", name, rel, err)
		}
	}
}
