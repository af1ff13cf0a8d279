package scheduler

import "github.com/skeincrawl/skein/crawl"

// A policy chooses among the slots that can start a request.
type policy interface {
	// key is the place of a slot that has requests in a layer.
	key(s *slot, layer int, active int) sortKey

	// pick returns the slot whose turn it is, nil if there is none. last is the
	// name of the slot picked before.
	pick(set *readySet, last string) *slot
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
	return sortKey{rank: int64(active), name: s.name}
}

func (downloaderAware) pick(set *readySet, last string) *slot {
	first := set.first()
	if first == nil {
		return nil
	}
	rank := set.node(first).key.rank
	if next := set.after(sortKey{rank: rank, name: last}); next != nil && set.node(next).key.rank == rank {
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

func (plainPriority) pick(set *readySet, _ string) *slot { return set.first() }
