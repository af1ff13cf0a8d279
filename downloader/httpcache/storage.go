package httpcache

import (
	"context"

	"github.com/skeincrawl/skein/crawl"
)

// A Storage keeps the records of a cache. What is in a record is not its
// business: whether it is whole is checked when it is read. Package cachetest
// proves the contract.
//
// All methods are safe for concurrent use, and other crawls may use the same
// place at the same time. They may block; a storage that waits for others gives
// up when ctx ends. Keys are 40 hexadecimal digits in lower case. An error of
// any method is logged and counted, and the request goes on without the cache.
//
// A storage that is an [io.Closer] is closed once, after the last request of the
// crawl. Its constructor must not touch the place yet: a crawl may be assembled
// and not run.
type Storage interface {
	// Load returns the record that was saved last under a key, nil without an
	// error if there is none or it has expired. The record is the caller's. Read
	// through a [downloader.Buffers] it waits for the memory that
	// DOWNLOAD_MAX_ACTIVE_SIZE allows, and fails if ctx ends first.
	Load(ctx context.Context, key string) ([]byte, error)

	// Save puts a record in place of what was there, as a whole: who loads at the
	// same time, or after a crash, gets the old one or the new one. The record
	// stays the caller's.
	Save(ctx context.Context, key string, record []byte) error

	// Remove forgets a record. That there is none is no error.
	Remove(ctx context.Context, key string) error
}

// Storages are the constructors of storages, by the names that
// HTTPCACHE_STORAGE uses.
var Storages = crawl.NewRegistry[func(*crawl.Env) (Storage, error)]("HTTP cache storage").For("HTTPCACHE_STORAGE") //nolint:gochecknoglobals // a registry.
