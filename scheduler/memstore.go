package scheduler

import "github.com/skeincrawl/skein/crawl"

// chunkSize is how many requests a chunk of the memory store holds.
const chunkSize = 1024

// memStore keeps the requests of the memory layer: encoded, or live where they
// have no name. IDs grow with time and are never 0.
type memStore struct {
	chunks []*chunk
	next   uint64
}

type chunk struct {
	entries [chunkSize]stored
	live    int
}

type stored struct {
	body    []byte
	request *crawl.Request // of a request that can not be encoded
	fp      Fingerprint    // of the same
	marked  bool           // it counts as seen
}

func (m *memStore) add(s stored) uint64 {
	i := m.next
	m.next++
	if i%chunkSize == 0 {
		m.chunks = append(m.chunks, new(chunk))
	}
	c := m.chunks[i/chunkSize]
	c.entries[i%chunkSize] = s
	c.live++
	return i + 1
}

func (m *memStore) get(id uint64) *stored {
	i := id - 1
	return &m.chunks[i/chunkSize].entries[i%chunkSize]
}

func (m *memStore) remove(id uint64) {
	i := id - 1
	c := m.chunks[i/chunkSize]
	c.entries[i%chunkSize] = stored{}
	c.live--
	if c.live == 0 && m.next >= (i/chunkSize+1)*chunkSize {
		m.chunks[i/chunkSize] = nil
	}
}
