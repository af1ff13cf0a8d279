package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// batch is what is written at once: the feeds' bytes, and the frames of the
// last segment.
type batch struct {
	frames  []byte
	feeds   [][]byte
	lastSeq uint64
}

func (b *batch) empty() bool {
	if len(b.frames) > 0 {
		return false
	}
	for _, f := range b.feeds {
		if len(f) > 0 {
			return false
		}
	}
	return true
}

// reset empties the batch for reuse, and lets memory go that one large step
// has needed.
func (b *batch) reset() {
	if cap(b.frames) > maxKept {
		b.frames = nil
	}
	b.frames = b.frames[:0]
	for i, f := range b.feeds {
		if cap(f) > maxKept {
			f = nil
		}
		b.feeds[i] = f[:0]
	}
}

// addFrame puts a frame into the buffer and returns where it begins in the
// segment. The caller holds mu.
func (j *Job) addFrame(ops []byte) int64 {
	seg := j.tail
	at := seg.size
	j.lastSeq++
	j.cur.frames = appendFrame(j.cur.frames, j.lastSeq, ops)
	j.cur.lastSeq = j.lastSeq
	seg.size += frameHead + int64(len(ops))
	return at
}

// fail keeps the first error: after it nothing is written any more.
func (j *Job) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
	return j.err
}

func (j *Job) sticky() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Flush hands all that is committed to the kernel. After it a killed process
// loses nothing of it.
func (j *Job) Flush() error {
	j.ioMu.Lock()
	defer j.ioMu.Unlock()
	return j.flushHeld()
}

// flushHeld is Flush for a caller that holds ioMu.
func (j *Job) flushHeld() error {
	j.mu.Lock()
	if j.err != nil || j.cur.empty() {
		defer j.mu.Unlock()
		return j.err
	}
	b := j.cur
	j.cur, j.out, j.spare = j.spare, b, nil
	j.mu.Unlock()

	err := j.write(b)
	if err != nil && j.relieve(err) && j.cutBack(b) {
		err = j.write(b)
	}
	if err != nil {
		if j.fsys != nil && errors.Is(err, syscall.ENOSPC) { // a torn tail would take the room of the next run
			err = errors.Join(err, j.tail.file.Truncate(j.tail.written))
		}
		return j.fail(err) // the batch stays where Read finds it
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fsys != nil {
		j.tail.written += int64(len(b.frames))
		j.tail.dirty = true
	}
	b.reset()
	j.out, j.spare = nil, b
	j.unsynced = true
	return nil
}

// write writes what of the batch is not written yet.
func (j *Job) write(b *batch) error {
	if err := j.writeFeeds(b); err != nil {
		return err
	}
	return j.writeFrames(b)
}

// cutBack takes away what a failed write may have left in a feed.
func (j *Job) cutBack(b *batch) bool {
	for i, data := range b.feeds {
		f := j.feeds[i]
		if len(data) > 0 && (f.plain || f.flushed > 0 && f.Sink.Truncate(f.flushed) != nil) {
			return false
		}
	}
	return true
}

func (j *Job) writeFeeds(b *batch) error {
	for i, data := range b.feeds {
		if len(data) == 0 {
			continue
		}
		f := j.feeds[i]
		if err := f.Sink.Append(data); err != nil {
			return fmt.Errorf("write feed %s: %w", f.Name, err)
		}
		b.feeds[i] = data[:0]
		f.flushed += int64(len(data))
		f.dirty = !f.plain
		j.feedBytes.Add(uint64(len(data)))
	}
	return nil
}

func (j *Job) writeFrames(b *batch) error {
	if len(b.frames) == 0 {
		return nil
	}
	seg := j.tail
	if _, err := seg.file.WriteAt(b.frames, seg.written); err != nil {
		return fmt.Errorf("write journal %s: %w", seg.name, err)
	}
	j.bytes.Add(uint64(len(b.frames)))
	return nil
}

// segmentSize returns the size at which a segment ends. It grows with the number
// of segments, so that their files stay few. The caller holds mu.
func (j *Job) segmentSize() int64 {
	const few = 32
	return min(j.opt.SegmentSize<<min(len(j.segs)/few, 20), maxSegmentSize)
}

// roll ends the last segment and begins the next one.
func (j *Job) roll() error {
	j.ioMu.Lock()
	defer j.ioMu.Unlock()
	j.mu.Lock()
	j.addFrame([]byte{byte(opEnd)})
	j.tail.end = j.tail.size
	j.tail.seal()
	j.keep.ended, j.keep.spent = true, false
	j.mu.Unlock()
	if err := j.flushHeld(); err != nil {
		return err
	}
	if err := j.addSegment(); err != nil {
		return j.fail(err)
	}
	return nil
}

// addSegment creates the next segment. The caller holds ioMu, and has flushed.
func (j *Job) addSegment() error {
	id := uint32(1)
	if j.tail != nil {
		id = j.tail.last + 1
	}
	name := filepath.Join(j.queue(), segmentName(id, id, 1))
	file, err := j.fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create journal segment: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.newEntry = true
	j.tail = &segment{first: id, last: id, gen: 1, name: name, file: file}
	j.segs = append(j.segs, j.tail)
	j.addFrame(appendHeader(nil, id, 1, j.lastSeq+1))
	return nil
}

// Barrier is called once per step of the engine. With a SyncInterval of 0 it
// returns when all that is committed is durable; otherwise at once, with the
// final error if there is one.
func (j *Job) Barrier() error {
	if j.opt.SyncInterval > 0 || j.fsys == nil {
		return j.sticky()
	}
	return j.sync()
}

// start starts the loops that write in the background.
func (j *Job) start() {
	j.wg.Go(func() { j.loop(j.dirty, j.full, j.opt.FlushInterval, j.Flush) })
	if j.fsys != nil {
		j.wg.Go(j.keepLoop)
		j.wg.Go(j.prefetchLoop)
	}
	if j.fsys != nil && j.opt.SyncInterval > 0 {
		j.wg.Go(func() { j.loop(j.late, nil, j.opt.SyncInterval, j.sync) })
	}
}

// loop does the work one interval after it was woken, or when hurried. Errors
// are final and are returned by the next call of the job's owner.
func (j *Job) loop(wake, hurry <-chan struct{}, interval time.Duration, work func() error) {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-j.quit:
			return
		case <-wake:
		}
		timer.Reset(interval)
		select {
		case <-j.quit:
			return
		case <-hurry:
		case <-timer.C:
		}
		if work() != nil {
			return
		}
	}
}

func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
