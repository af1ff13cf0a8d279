package engine

import (
	"context"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/scheduler"
)

// slotView is the [crawl.Slots] of a crawl.
type slotView struct{ e *Engine }

// Slots returns the downloader slots of the crawl, to look at and to change while it
// runs. It is the Slots of [crawl.Env].
func (e *Engine) Slots() crawl.Slots { return slotView{e} }

// List implements [crawl.Slots].
func (v slotView) List() []crawl.SlotStatus {
	var queued map[string]int
	if k := v.e.slotKeeper(); k != nil {
		queued = k.QueuedBySlot()
	}
	return v.e.slots.List(queued, time.Now())
}

// Change implements [crawl.Slots].
func (v slotView) Change(name string, c crawl.SlotChange) error {
	changed, err := v.e.slots.Change(name, c, time.Now())
	if err == nil {
		v.e.refreshSlots(changed...)
	}
	return err
}

// slotKeeper returns the frontier if it has to hear of changes of slots, nil
// otherwise and before there is one.
func (e *Engine) slotKeeper() scheduler.SlotKeeper {
	run := e.running.Load()
	if run == nil {
		return nil
	}
	k, _ := run.frontier.(scheduler.SlotKeeper)
	return k
}

func (e *Engine) refreshSlots(names ...string) {
	if k := e.slotKeeper(); k != nil && len(names) > 0 {
		k.RefreshSlots(names...)
	}
}

// tellsLate returns a context for a fetch that a slot was granted for, which tells
// it when the request really goes out: a connection may have taken its time.
func (e *Engine) tellsLate(ctx context.Context, slot string) context.Context {
	if !e.slots.Paces(slot) {
		return ctx
	}
	return downloader.WithSent(ctx, func(at time.Time) { e.slots.SentLate(slot, at) })
}

// pacer is the slot of one download.
type pacer struct {
	e    *Engine
	slot string
}

// Delay implements [downloader.Pacer].
func (p pacer) Delay() time.Duration { return p.e.slots.Delay(p.slot) }

// SlowDown implements [downloader.Pacer].
func (p pacer) SlowDown(delay time.Duration) {
	if p.e.slots.SlowDown(p.slot, delay, time.Now()) {
		p.e.refreshSlots(p.slot)
	}
}
