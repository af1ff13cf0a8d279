package scheduler

import "github.com/skeincrawl/skein/crawl"

// chunkSize is how many requests a chunk of the memory store holds.
const chunkSize = 1024

// memStore keeps the requests of the memory layer: encoded, or live where they
// have no name. IDs grow with time and are never 0.
type memStore struct {
	chunks []chunk
	next   uint64
}

type chunk struct {
	entries *[chunkSize]stored // nil when all are gone
	left    int
}

// stored is one request. There are many: two of them share a line of the cache.
type stored struct {
	body []byte
	live *live // if there is no body
}

// live is a request that can not be encoded.
type live struct {
	request *crawl.Request
	fp      Fingerprint
	marked  bool // it counts as seen
}

func (m *memStore) add(s stored) uint64 {
	i := m.next
	m.next++
	if i%chunkSize == 0 {
		m.chunks = append(m.chunks, chunk{entries: new([chunkSize]stored)})
	}
	c := &m.chunks[i/chunkSize]
	c.entries[i%chunkSize] = s
	c.left++
	return i + 1
}

func (m *memStore) get(id uint64) *stored {
	i := id - 1
	return &m.chunks[i/chunkSize].entries[i%chunkSize]
}

func (m *memStore) remove(id uint64) {
	i := id - 1
	c := &m.chunks[i/chunkSize]
	c.entries[i%chunkSize] = stored{}
	c.left--
	if c.left == 0 && m.next >= (i/chunkSize+1)*chunkSize {
		c.entries = nil
	}
}
