package feeds

import (
	"errors"
	"io"
	"io/fs"

	"github.com/skeincrawl/skein/jobs"
)

// framing is what a job has to know of a format.
type framing struct{ f *feed }

var _ jobs.Format = framing{}

// format returns the framing of a feed, or nil if its items follow each other.
func (f *feed) format() jobs.Format {
	if _, ok := f.exporter.(Framer); ok {
		return framing{f}
	}
	if _, ok := f.exporter.(Continuer); ok {
		return framing{f}
	}
	return nil
}

// Lead implements [jobs.Format].
func (fr framing) Lead(empty bool) []byte {
	framer, ok := fr.f.exporter.(Framer)
	switch {
	case !ok:
		return nil
	case empty:
		return framer.Head()
	}
	return framer.Separator()
}

// Tail implements [jobs.Format].
func (fr framing) Tail(empty bool) []byte {
	framer, ok := fr.f.exporter.(Framer)
	if !ok || empty && fr.f.form.SkipEmpty {
		return nil
	}
	tail := framer.Tail()
	if !empty || len(tail) == 0 {
		return tail
	}
	return append(append([]byte(nil), framer.Head()...), tail...)
}

// Adopt implements [jobs.Format].
func (fr framing) Adopt(s jobs.Sink, size int64) (int64, error) {
	n, err := fr.f.adopt(s, size)
	if err != nil {
		return 0, &TargetError{Target: fr.f.URI, Err: err}
	}
	return n, nil
}

func (f *feed) adopt(s any, size int64) (int64, error) {
	r, ok := s.(io.ReaderAt)
	if !ok {
		return 0, errors.New("what it holds can not be read")
	}
	if o, ok := f.exporter.(Opener); ok {
		if err := o.Open(r, size); err != nil {
			return 0, err
		}
	}
	if c, ok := f.exporter.(Continuer); ok {
		return c.Continue(r, size)
	}
	return size, nil
}

// Begin prepares the feeds for the first item, after the job has brought their
// files to where the crawl goes on. The error names the feed to which nothing
// can be added, as a [TargetError].
func (s *Set) Begin() error {
	for _, f := range s.feeds {
		if err := f.begin(); err != nil {
			return &TargetError{Target: f.URI, Err: err}
		}
	}
	return nil
}

func (f *feed) begin() error {
	size, err := f.size()
	if err != nil {
		return err
	}
	f.begun = size > 0
	o, needs := f.exporter.(Opener)
	r, can := f.sink.(io.ReaderAt)
	if !f.begun || !needs || !can {
		return nil
	}
	return o.Open(r, size)
}

// checkContent tells without a job whether items can be added to what is there.
func (f *feed) checkContent() error {
	if f.format() == nil {
		return nil
	}
	size, err := f.size()
	if err == nil && size == 0 {
		return nil
	}
	if err == nil {
		_, err = f.adopt(f.sink, size)
	}
	if err != nil {
		err = errors.Join(&TargetError{Target: f.URI, Err: err}, f.sink.(Closer).Close(false))
	}
	return err
}

// size returns how many bytes a feed has; none if it can not be known.
func (f *feed) size() (int64, error) {
	n, err := f.sink.Size()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported) {
		return 0, nil
	}
	return n, err
}
