package jobs

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Sink is where the bytes of a feed go. The job calls Append, Size and
// Truncate one at a time; Sync, and ReadAt of a sink that is an [io.ReaderAt],
// may run beside Append. The job never closes a sink, and never calls it
// after [Job.Close] has returned.
//
// A sink that is an io.ReaderAt lets the job check what is in it; a file
// should be one.
type Sink interface {
	// Append adds b at the end and hands it to the kernel: it must not stay in a
	// buffer of this process. It creates what is missing. b is the caller's again
	// when Append returns. After an error the job calls Append again only if the
	// disk was full, and it has cut the sink with Truncate.
	Append(b []byte) error
	// Sync makes what was appended durable, and the directory entry of a file
	// that Append has created.
	Sync() error
	// Size returns the length in bytes. It creates nothing: the error matches
	// fs.ErrNotExist if nothing is there, and errors.ErrUnsupported if the sink
	// has no length that could be read and cut, as a pipe has none.
	Size() (int64, error)
	// Truncate cuts the sink to n bytes; the next Append continues there.
	Truncate(n int64) error
}

// Format is what a feed holds beside its items, for a format in which they are
// more than lines one after the other. The job calls it from one goroutine at a
// time; what it returns is not changed. Lead and Tail never block.
type Format interface {
	// Lead returns what goes before bytes that are added: the beginning of the
	// feed if it is empty, else what stands between two items. It counts to the
	// step of these bytes.
	Lead(empty bool) []byte
	// Tail returns what ends the feed at a clean close. It does not count to the
	// committed length, so the next run cuts it off.
	Tail(empty bool) []byte
	// Adopt returns the length, at most size, at which items go on in a sink that
	// holds something the job does not know of; what is behind it is cut off. An
	// error refuses the feed, and nothing is changed.
	Adopt(s Sink, size int64) (int64, error)
}

// Joiner is a [Sink] that prepares for going on after bytes that the job does not
// know, such as a line without an end. Join returns how many bytes it added. It
// is called before the first Append.
type Joiner interface {
	Join() (int64, error)
}

// Feed is an output whose bytes belong to the steps of a job.
//
// At recovery each feed is cut back to the length that the job has committed.
// After an unclean end, steps since the last sync mark whose bytes a feed has
// lost (a power cut) are taken back from the journal, so that they are done
// again. A feed that is missing, is shorter than its last mark, differs before
// that mark, or was continued after a clean end is foreign: it is not cut, and
// new bytes go to its end. A feed that the job does not know is continued at
// its end. Its Format says where that is. Each foreign feed is a warning in
// [Recovery].
type Feed struct {
	Name string // by which the job knows it again
	Sink Sink
	// Format is nil for items that simply follow each other.
	Format Format
	// Overwrite empties the sink when a round starts, never on a resume.
	Overwrite bool
}

// feed is a Feed in use.
type feed struct {
	Feed
	id      uint64
	plain   bool  // written only: it has no length
	length  int64 // with what is in the buffer
	flushed int64 // handed to the sink
	dirty   bool  // handed to the sink since the last sync
	mark    feedMark

	size    int64 // found at recovery
	foreign bool
	fresh   bool // starts anew, is new to the job, or foreign: declare it
	empty   bool // to be emptied
}

func newFeeds(list []Feed) (feeds []*feed, err error) {
	feeds = make([]*feed, len(list))
	seen := make(map[string]bool, len(list))
	for i, f := range list {
		if seen[f.Name] && err == nil {
			err = fmt.Errorf("feed %q is given twice", f.Name)
		}
		seen[f.Name] = true
		feeds[i] = &feed{Feed: f}
	}
	return feeds, err
}

// measure finds the size; a missing sink has none.
func (f *feed) measure() (missing bool, err error) {
	f.size, err = f.Sink.Size()
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, errors.ErrUnsupported):
		f.plain, f.size = true, 0
		return false, nil
	case isNotExist(err):
		f.size = 0
		return true, nil
	}
	return false, fmt.Errorf("measure feed %s: %w", f.Name, err)
}

// judge compares the sink with what the job knows of it, and returns a warning
// if it is foreign.
func (f *feed) judge(st *feedState, clean bool) (string, error) {
	missing, err := f.measure()
	if err != nil || f.plain {
		return "", err
	}
	why := ""
	switch {
	case missing && st.mark > 0:
		why = "is missing"
	case f.size < st.mark:
		why = fmt.Sprintf("has %d bytes, fewer than the %d that the job has synced", f.size, st.mark)
	case clean && f.size > st.closed:
		why = fmt.Sprintf("was continued by someone else, from %d to %d bytes, after the job was closed", st.closed, f.size)
	default:
		same, err := f.matches(st)
		if err != nil {
			return "", err
		}
		if !same {
			why = fmt.Sprintf("differs from what the job wrote before byte %d", st.mark)
		}
	}
	if why == "" {
		return "", nil
	}
	f.foreign = true
	return fmt.Sprintf("feed %s %s: it is left as it is, and new items go to its end", f.Name, why), nil
}

// adopt finds the length at which a sink goes on that the job does not know.
func (f *feed) adopt() error {
	f.length = f.size
	if f.Format == nil || f.plain || f.size == 0 {
		return nil
	}
	n, err := f.Format.Adopt(f.Sink, f.size)
	if err != nil {
		return fmt.Errorf("go on in feed %s: %w", f.Name, err)
	}
	f.length = n
	return nil
}

// cut takes away what is behind the length at which items go on.
func (f *feed) cut() error {
	if f.plain || f.size <= f.length {
		return nil
	}
	if err := f.Sink.Truncate(f.length); err != nil {
		return fmt.Errorf("cut feed %s to %d bytes: %w", f.Name, f.length, err)
	}
	f.size = f.length
	return nil
}

// end writes the tail.
func (f *feed) end() error {
	if f.Format == nil {
		return nil
	}
	tail := f.Format.Tail(f.length == 0)
	if len(tail) == 0 {
		return nil
	}
	if err := f.Sink.Append(tail); err != nil {
		return fmt.Errorf("end feed %s: %w", f.Name, err)
	}
	f.dirty = !f.plain
	return nil
}

// join prepares a feed that goes on at its present end for the first time.
func (f *feed) join() error {
	s, ok := f.Sink.(Joiner)
	if !ok || f.Format != nil || f.empty || f.plain || f.size == 0 {
		return nil
	}
	n, err := s.Join()
	if err != nil {
		return fmt.Errorf("go on with feed %s: %w", f.Name, err)
	}
	f.size += n
	f.length += n
	return nil
}

func (f *feed) matches(st *feedState) (bool, error) {
	if !st.hasCRC {
		return true, nil
	}
	m, err := f.markAt(st.mark, nil)
	if err != nil || !m.hasCRC {
		return true, err
	}
	return m.crc == st.crc, nil
}

// markAt returns the mark of the sink at a length that it has.
func (f *feed) markAt(length int64, buf []byte) (feedMark, error) {
	m := feedMark{id: f.id, length: length}
	r, ok := f.Sink.(io.ReaderAt)
	if !ok {
		return m, nil
	}
	n := min(length, markWindow)
	crc, err := checksumAt(r, length-n, n, buf)
	if err != nil {
		return m, fmt.Errorf("read feed %s: %w", f.Name, err)
	}
	m.hasCRC, m.crc = true, crc
	return m, nil
}

// holds tells whether the sink has the bytes of a step.
func (f *feed) holds(w feedWrite, buf []byte) (bool, error) {
	if f.size < w.to {
		return false, nil
	}
	r, ok := f.Sink.(io.ReaderAt)
	if !ok {
		return true, nil
	}
	crc, err := checksumAt(r, w.from, w.to-w.from, buf)
	if err != nil {
		return false, fmt.Errorf("read feed %s: %w", f.Name, err)
	}
	return crc == w.crc, nil
}

func checksumAt(r io.ReaderAt, off, n int64, buf []byte) (uint32, error) {
	if len(buf) == 0 {
		buf = make([]byte, min(n, markWindow))
	}
	crc := uint32(0)
	for n > 0 {
		part := buf[:min(n, int64(len(buf)))]
		if got, err := r.ReadAt(part, off); got < len(part) {
			return 0, fmt.Errorf("at offset %d: %w", off+int64(got), err)
		}
		crc = crc32.Update(crc, crcTable(), part)
		off += int64(len(part))
		n -= int64(len(part))
	}
	return crc, nil
}
