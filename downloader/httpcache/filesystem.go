package httpcache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/settings"
)

func init() { Storages.Register("filesystem", newFilesystem) }

// newFilesystem returns the storage with a file for each key, in
// HTTPCACHE_DIR/SPIDER/ab/abcd….
func newFilesystem(env *crawl.Env) (Storage, error) {
	f := &filesystem{filesystemConfig: settings.Decode[filesystemConfig](env.Settings), log: env.Logger("httpcache")}
	name := url.PathEscape(env.Spec.Name)
	if strings.Trim(name, ".") == "" { // a folder of its own, whatever the name
		name = "_" + name
	}
	f.dir = filepath.Join(f.Root, name)
	return f, nil
}

type filesystemConfig struct {
	Root    string        `setting:"HTTPCACHE_DIR"`
	Expires time.Duration `setting:"HTTPCACHE_EXPIRATION_SECS"`
	MaxSize int64         `setting:"HTTPCACHE_MAX_SIZE"`
}

// filesystem relies on one thing: a rename is atomic. What a power cut leaves of
// a file that was not synced has a wrong checksum.
type filesystem struct {
	filesystemConfig

	dir string
	log zerolog.Logger

	buffers  downloader.Buffers
	used     atomic.Int64 // bytes below Root: what the last sweep found and what was saved since
	swept    atomic.Bool
	sweeping sync.Mutex
}

var _ Storage = (*filesystem)(nil)

func (f *filesystem) path(key string) string { return filepath.Join(f.dir, key[:2], key) }

// expired reports whether a file that was written at a time has to go.
func (f *filesystem) expired(written time.Time) bool {
	return f.Expires > 0 && time.Since(written) > f.Expires
}

// Load reads the file, and removes it instead if it has expired.
func (f *filesystem) Load(ctx context.Context, key string) (record []byte, err error) {
	path := f.path(key)
	info, err := os.Stat(path)
	if err == nil && f.expired(info.ModTime()) {
		return nil, remove(path)
	}
	if err == nil {
		record, err = f.read(ctx, path, info.Size())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read a cached response: %w", err)
	}
	return record, nil
}

// read returns the content of a file of about some size.
func (f *filesystem) read(ctx context.Context, path string, size int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read.
	return f.buffers.Read(ctx, file, size, 0)
}

// Save writes a file in a folder beside and moves it to its place.
func (f *filesystem) Save(_ context.Context, key string, record []byte) error {
	path, beside := f.path(key), filepath.Join(f.dir, unfinished)
	for _, dir := range []string{filepath.Dir(path), beside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a folder of the cache: %w", err)
		}
	}
	if err := write(beside, path, record); err != nil {
		return fmt.Errorf("write a cached response: %w", err)
	}
	f.grown(int64(len(record)))
	return nil
}

// unfinished is the folder of the files that are being written. They have it in their
// names as well.
const unfinished = "new"

func write(beside, path string, record []byte) error {
	file, err := os.CreateTemp(beside, unfinished+"-")
	if err != nil {
		return err
	}
	_, err = file.Write(record)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, remove(file.Name()))
	}
	return nil
}

// Remove deletes the file.
func (f *filesystem) Remove(_ context.Context, key string) error {
	if err := remove(f.path(key)); err != nil {
		return fmt.Errorf("remove a cached response: %w", err)
	}
	return nil
}

// remove deletes a file that others may have deleted before.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
