package feeds

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"

	"github.com/skeincrawl/skein/jobs"
)

// A Closer is a [jobs.Sink] that has something to do at the end.
type Closer interface {
	// Close ends the sink, after its last Append and Sync. Clean tells that the
	// crawl ended in good order and all its bytes were appended: a sink that
	// replaces a file does so only then. It returns the error of the last Append
	// too, if that failed. A second Close does nothing.
	Close(clean bool) error
}

// Stdout is a sink on a stream. What was written is gone: it has no size and is
// never cut. It is safe for concurrent use if the stream is.
type Stdout struct {
	w io.Writer

	mu     sync.Mutex
	failed error // of the last Append
}

var (
	_ jobs.Sink = (*Stdout)(nil)
	_ Closer    = (*Stdout)(nil)
)

// NewStdout returns a sink on standard output or another stream.
func NewStdout(w io.Writer) *Stdout { return &Stdout{w: w} }

// Append writes b. If nobody reads the stream any more the error matches
// syscall.EPIPE, on every system.
func (s *Stdout) Append(b []byte) error {
	err := s.write(b)
	s.mu.Lock()
	s.failed = err
	s.mu.Unlock()
	return err
}

func (s *Stdout) write(b []byte) error {
	n, err := s.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	switch {
	case err == nil:
		return nil
	case isClosedPipe(err) && !errors.Is(err, syscall.EPIPE):
		err = fmt.Errorf("%w (%w)", syscall.EPIPE, err)
	}
	return fmt.Errorf("write feed to standard output (%d of %d bytes): %w", n, len(b), pathless(err))
}

// isClosedPipe knows Windows' names for it: ERROR_BROKEN_PIPE and ERROR_NO_DATA.
func isClosedPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	var errno syscall.Errno
	return runtime.GOOS == "windows" && errors.As(err, &errno) && (errno == 109 || errno == 232)
}

// Sync does nothing: the bytes are the reader's.
func (s *Stdout) Sync() error { return nil }

// Size answers errors.ErrUnsupported.
func (s *Stdout) Size() (int64, error) {
	return 0, fmt.Errorf("measure standard output: %w", errors.ErrUnsupported)
}

// Truncate answers errors.ErrUnsupported.
func (s *Stdout) Truncate(int64) error {
	return fmt.Errorf("cut standard output: %w", errors.ErrUnsupported)
}

// Close leaves the stream open. A reader that had enough is no error.
func (s *Stdout) Close(bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.failed, syscall.EPIPE) {
		return nil
	}
	return s.failed
}
