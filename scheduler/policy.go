package scheduler

import "github.com/skeincrawl/skein/crawl"

// A policy chooses among the slots that can start a request.
type policy interface {
	// key is the place of a slot that has requests in a layer.
	key(s *slot, layer int, active int) sortKey

	// pick returns the slot whose turn it is, nil if there is none, or a stale one
	// that has to be put right before that can be told. last is the slot
	// picked before, nil if there was none.
	pick(set *readySet, last *slot) *slot
}

var policies = crawl.NewRegistry[policy]("scheduler priority queue") //nolint:gochecknoglobals // a registry.

func init() {
	policies.Register("downloader-aware", downloaderAware{})
	policies.Register("priority", plainPriority{})
}

// downloaderAware takes the slot with the fewest active downloads; among equals
// the next by name after the last one picked, so that all get their turn
// (Scrapy's DownloaderAwarePriorityQueue). Priorities count within a slot.
type downloaderAware struct{}

func (downloaderAware) key(s *slot, _ int, active int) sortKey {
	return sortKey{level: uint8(min(active, levels-1)), rank: int64(active), name: s.name}
}

func (downloaderAware) pick(set *readySet, last *slot) *slot {
	first := set.first()
	if first == nil || last == nil || set.node(first).stale {
		return first
	}
	key := set.node(first).key
	rank := key.rank
	next := set.node(last).next
	if n := set.node(last); !n.in || n.key.rank != rank {
		key.name = last.name
		_, next = set.around(key)
	}
	if next != nil && set.node(next).key.rank == rank {
		return next
	}
	return first
}

// plainPriority takes the best request among the slots that can start one, by
// priority and then by the order of the queues (Scrapy's ScrapyPriorityQueue).
type plainPriority struct{}

func (plainPriority) key(s *slot, layer int, _ int) sortKey {
	q := &s.queues[layer]
	head := q.head()
	order := int64(head.ID)
	if _, ok := q.buckets[0].q.(*fifo); !ok {
		order = -order
	}
	return sortKey{rank: ^int64(head.Priority), start: head.Start, order: order, name: s.name}
}

func (plainPriority) pick(set *readySet, _ *slot) *slot { return set.first() }
