package httpcache_test

import (
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader/httpcache"
	"github.com/skeincrawl/skein/downloader/httpcache/cachetest"
	"github.com/skeincrawl/skein/settings"
)

// The storage in files keeps the contract.
func TestFilesystem(t *testing.T) {
	dirs := map[*testing.T]string{}
	cachetest.Storage(t, func(t *testing.T) httpcache.Storage {
		if dirs[t] == "" {
			dirs[t] = t.TempDir()
		}
		s, _, err := settings.New().Spider("test", map[string]any{"HTTPCACHE_DIR": dirs[t]}).Build()
		if err != nil {
			t.Fatal(err)
		}
		env := &crawl.Env{Settings: s, Spec: crawl.Spec{Name: "a/b"}, Log: zerolog.Nop()}
		storage, err := crawl.Construct(env, "HTTPCACHE_STORAGE", httpcache.Storages, "filesystem")
		if err != nil {
			t.Fatal(err)
		}
		return storage
	})
}
