package scheduler

import (
	"errors"
	"fmt"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/jobs"
)

// kit is what the default frontier is made of, by the names in the settings.
type kit struct {
	cfg    Config
	pick   PriorityQueue
	filter Filter
	layers [layers]layer
}

// newKit touches nothing, so that what is wrong in the settings is known before
// there is a job.
func newKit(env *crawl.Env, cfg Config) (*kit, error) {
	k := &kit{cfg: cfg}
	var pick, filter error
	k.pick, pick = crawl.Construct(env, "SCHEDULER_PRIORITY_QUEUE", PriorityQueues, cfg.PriorityQueue)
	k.filter, filter = crawl.Construct(env, "DUPEFILTER_CLASS", Filters, cfg.DupeFilter)
	return k, errors.Join(pick, filter,
		k.makeLayer(memory, "MEMORY", cfg.Memory, cfg.StartMemory), k.makeLayer(disk, "DISK", cfg.Disk, cfg.StartDisk))
}

func (k *kit) makeLayer(i int, kind, ordinary, start string) (err error) {
	l := &k.layers[i]
	l.ready.layer = i
	if l.newQueue, l.starts, err = queueMakers(ordinary, start); err != nil {
		return fmt.Errorf("SCHEDULER_%s_QUEUE, SCHEDULER_START_%s_QUEUE: %w", kind, kind, err)
	}
	return nil
}

// queueMakers returns what makes the queues of a layer.
func queueMakers(ordinary, start string) (queueMaker, bool, error) {
	newQueue, err := lookupQueue(ordinary)
	if err != nil {
		return nil, false, err
	}
	if start == "" {
		return func(_ bool, r *room) Queue { return newQueue(r) }, false, nil
	}
	newStart, err := lookupQueue(start)
	if err != nil {
		return nil, false, err
	}
	return func(start bool, r *room) Queue {
		if start {
			return newStart(r)
		}
		return newQueue(r)
	}, true, nil
}

// lookupQueue returns what makes the queues of a name, in the given room if they
// are of a kind that can lie there: it makes one to see that.
func lookupQueue(name string) (func(*room) Queue, error) {
	newQueue, err := Queues.Lookup(name)
	if err != nil {
		return nil, err
	}
	switch newQueue().(type) {
	case *lifo:
		return func(r *room) Queue { return (*lifo)(r) }, nil
	case *fifo:
		return func(r *room) Queue { return (*fifo)(r) }, nil
	}
	return func(*room) Queue { return newQueue() }, nil
}

// NewLocal returns the default frontier. It recovers the job, and closes it if
// it fails.
func NewLocal(d Deps, cfg Config) (*Local, Resume, error) {
	k, err := newKit(d.Env, cfg)
	if err != nil {
		return nil, Resume{}, errors.Join(err, d.Job.Close(jobs.End{}))
	}
	return k.open(d)
}

// open makes the frontier. A kit is used once.
func (k *kit) open(d Deps) (*Local, Resume, error) {
	f := &Local{
		report: newReporter(d.Env, k.cfg), pick: k.pick, slots: d.Slots, job: d.Job, durable: d.Env.JobDir != "",
		filter: newSeenFilter(k.filter, d.Env.JobDir != ""), layers: k.layers,
		ready: make(chan struct{}, 1), bySlot: map[string]*slot{}, leases: map[LeaseID]*lease{},
	}
	resume, err := f.recover(d)
	if err != nil {
		return nil, Resume{}, errors.Join(err, d.Job.Close(jobs.End{}))
	}
	return f, resume, nil
}
