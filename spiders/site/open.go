package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// Open reads start URLs from standard input, if they come from there.
func (s *Spider) Open(ctx context.Context, env *crawl.Env) error {
	s.log, s.stats = env.Logger("site"), env.Stats
	if !s.source.stdin {
		return nil
	}
	fresh, err := s.openStdin(ctx, env)
	if err != nil {
		return err
	}
	if s.source.stream != nil {
		if s.Domains == "" {
			s.homes = &hosts{names: map[string]bool{}}
		}
		return nil
	}
	err = s.scan(ctx)
	if err != nil && fresh { // the next run is to read a better one
		err = errors.Join(err, removeSpool(s.source.file))
	}
	return err
}

// scan looks through the start URLs before the first is emitted.
func (s *Spider) scan(ctx context.Context) error {
	good, names := 0, map[string]bool{}
	var firstBad error
	err := s.source.each(ctx, func(line int, text string) error {
		u, err := startURL(text)
		if err != nil && firstBad == nil {
			firstBad = fmt.Errorf("line %d: %w", line, err)
		}
		if err == nil {
			good++
			names[weburl.Host(u)] = true
		}
		return nil
	})
	switch {
	case err != nil:
		return argError("start", s.StartURLs, err)
	case good == 0 && firstBad != nil:
		return argError("start", s.StartURLs, fmt.Errorf("%s has no usable URL: %w", s.source.name(), firstBad))
	case good == 0:
		return argError("start", s.StartURLs, fmt.Errorf("%s has no URL", s.source.name()))
	}
	return s.stayOn(names)
}

// stayOn makes the hosts of the start URLs the domains, unless there are some.
func (s *Spider) stayOn(names map[string]bool) error {
	if s.Domains != "" || !s.Follow {
		return nil
	}
	delete(names, "") // of file and data URLs
	if len(names) == 0 {
		return argError("domains", "", errors.New("the start URLs have no hosts: say which domains to follow links to, * for any, or -a follow=false"))
	}
	s.domains = slices.Sorted(maps.Keys(names))
	return nil
}

// openStdin makes standard input the source. A job keeps what came: when it is
// resumed the input is gone. fresh tells that the job has just got its copy.
func (s *Spider) openStdin(ctx context.Context, env *crawl.Env) (fresh bool, err error) {
	if env.JobDir == "" && env.Stdin != nil {
		s.source.stream = env.Stdin
		return false, nil
	}
	if env.JobDir != "" {
		s.source.file = filepath.Join(env.JobDir, "start.txt")
		if _, err := os.Stat(s.source.file); err == nil && env.Resumed {
			s.log.Info().Msgf("Start URLs come from %s, where the job keeps them; standard input is not read again", s.source.file)
			return false, nil
		}
	}
	if env.Stdin == nil {
		return false, argError("start", "-", errors.New("there is no standard input"))
	}
	return true, writeSpool(ctx, s.source.file, env.Stdin)
}

// writeSpool makes the file whole or not at all, so that a run killed on the way
// does not leave a part that the next one takes for all.
func writeSpool(ctx context.Context, path string, r io.Reader) error {
	temp := path + ".tmp"
	err := fill(temp, interruptible(ctx, r))
	if err == nil {
		err = os.Rename(temp, path)
	}
	if d, derr := os.Open(filepath.Dir(path)); err == nil && derr == nil {
		err = errors.Join(d.Sync(), d.Close()) // or the name may be lost with the power
	}
	if err != nil {
		return fmt.Errorf("keep start URLs of standard input: %w", errors.Join(err, removeSpool(temp)))
	}
	return nil
}

func fill(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func removeSpool(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove start URLs of the job: %w", err)
	}
	return nil
}

// hosts are the hosts of the start URLs that have come so far. It is safe for
// concurrent use.
type hosts struct {
	mu    sync.RWMutex
	names map[string]bool
}

func (h *hosts) add(u string) {
	name := weburl.Host(u)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names[name] = true
}

// cover reports whether a URL is on one of the hosts or a subdomain.
func (h *hosts) cover(u string) bool {
	name := weburl.Host(u)
	h.mu.RLock()
	defer h.mu.RUnlock()
	for name != "" {
		if h.names[name] {
			return true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return false
}

// readerFunc is a function that reads.
type readerFunc func(p []byte) (int, error)

// Read calls f.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// interruptible returns a reader that gives up, with [crawl.ErrStopped], when
// ctx is done. The read below it can not be interrupted on a terminal or a pipe:
// its goroutine then waits for the input or the end of the process.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	type result struct {
		n   int
		err error
	}
	buf := make([]byte, 64<<10)
	done := make(chan result, 1)
	return readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, fmt.Errorf("%w: %w", crawl.ErrStopped, context.Cause(ctx))
		}
		part := buf[:min(len(p), len(buf))]
		go func() {
			n, err := r.Read(part)
			done <- result{n, err}
		}()
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", crawl.ErrStopped, context.Cause(ctx))
		case got := <-done:
			return copy(p, part[:got.n]), got.err
		}
	})
}
