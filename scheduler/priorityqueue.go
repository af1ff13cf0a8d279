package scheduler

import (
	"fmt"

	"github.com/skeincrawl/skein/crawl"
)

// A PriorityQueue chooses among the slots that can start a request: it tells
// when the turn of a slot comes. It is asked about a slot whenever something
// changes in that slot, not when something changes elsewhere, and so must give
// the same answer for the same view. Memory is emptied before disk, whatever it
// says, and within a slot the highest priority goes first.
//
// It is called by one goroutine at a time, for every request, and must not
// block.
type PriorityQueue func(v SlotView) Turn

// A Turn is the place of a slot among those that can start a request: the lowest
// Rank goes first. Among equal ranks those that are not Later go first, and among
// those the lowest Order. Slots that are alike in all three take turns by name.
type Turn struct {
	Rank  int64
	Later bool
	Order int64
}

// PriorityQueues is the registry behind SCHEDULER_PRIORITY_QUEUE.
var PriorityQueues = crawl.NewRegistry[func(*crawl.Env) (PriorityQueue, error)]("scheduler priority queue").For("SCHEDULER_PRIORITY_QUEUE") //nolint:gochecknoglobals // a registry.

func init() {
	PriorityQueues.Register("downloader-aware", func(env *crawl.Env) (PriorityQueue, error) {
		if n := env.Settings.Int("CONCURRENT_REQUESTS_PER_IP"); n > 0 {
			return nil, fmt.Errorf("this queue does not support CONCURRENT_REQUESTS_PER_IP, which is %d; SCHEDULER_PRIORITY_QUEUE=priority does", n)
		}
		return fewestActive, nil
	})
	PriorityQueues.Register("priority", func(*crawl.Env) (PriorityQueue, error) { return bestOfAll, nil })
}

// fewestActive takes the slot with the fewest active downloads (Scrapy's
// DownloaderAwarePriorityQueue). Priorities count within a slot.
func fewestActive(v SlotView) Turn { return Turn{Rank: int64(v.active)} }

// bestOfAll takes the best request among the slots that can start one, by
// priority and then by the order of the queues (Scrapy's ScrapyPriorityQueue).
func bestOfAll(v SlotView) Turn {
	head := v.Head()
	order := int64(head.ID)
	if !v.OldestFirst() {
		order = -order
	}
	return Turn{Rank: ^int64(head.Priority), Later: head.Start, Order: order}
}

// A SlotView shows a [PriorityQueue] one slot that has requests in one layer,
// memory or disk. It is valid until the call returns.
type SlotView struct {
	b      *backlog
	active int
}

// Name returns the name of the slot, most often a host.
func (v SlotView) Name() string { return v.b.slot.name }

// Active returns how many downloads of the slot are in progress.
func (v SlotView) Active() int { return v.active }

// Queued returns how many requests the slot has in this layer, at least 1.
func (v SlotView) Queued() int { return v.b.queue.n }

// Head returns the request that the slot would start. Its ID is 0 if the queue
// that holds it is no [Peeker].
func (v SlotView) Head() Ref {
	r := v.b.queue.head()
	r.Slot = v.b.slot.name
	return r
}

// OldestFirst reports whether Head comes from a queue that is first in, first
// out.
func (v SlotView) OldestFirst() bool {
	_, ok := v.b.queue.buckets[0].q.(*fifo)
	return ok
}
