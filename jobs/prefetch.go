package jobs

const (
	prefetchQueue = 64
	recentBytes   = 64 << 20 // written last: these are in the page cache
)

// Prefetch lets the body of a record be read from the disk in the background, so
// that a Read soon afterwards finds it in the page cache: a queue that was not
// touched for long would otherwise wait for the disk at each request. It never
// blocks, and does nothing for what was written a short while ago, or if there is
// too much to fetch.
func (j *Job) Prefetch(a Addr) {
	if j.fsys == nil {
		return
	}
	j.mu.Lock()
	recent := j.tail == nil || a.Segment() >= j.tail.first || a.Segment() == j.tail.first-1 && j.tail.size < recentBytes
	j.mu.Unlock()
	if recent {
		return
	}
	select {
	case j.wanted <- a:
	default:
	}
}

// prefetchLoop reads what is wanted and drops it.
func (j *Job) prefetchLoop() {
	var buf []byte
	for {
		select {
		case <-j.quit:
			return
		case a := <-j.wanted:
			buf, _ = j.Read(a, buf[:0]) // an error comes again with the real Read
		}
	}
}
