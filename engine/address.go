package engine

import (
	"context"
	"sync"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/scheduler"
)

// maxLookups is how many hosts of one step are looked up at once.
const maxLookups = 64

// slotKey returns the slot that a request waits for, and whether that is the host
// of its URL.
func (e *Engine) slotKey(r *crawl.Request) (key string, host bool) {
	if r.Options.Slot != "" {
		return r.Options.Slot, false
	}
	if e.policies.slot != nil {
		if key := e.policies.slot.SlotKey(r); key != "" {
			return key, false
		}
	}
	return downloader.SlotKey(r.URL), true
}

// slotOf returns the slot of a request. Under CONCURRENT_REQUESTS_PER_IP that of a
// host is its address, and it waits for the resolver.
func (e *Engine) slotOf(ctx context.Context, r *crawl.Request) string {
	key, host := e.slotKey(r)
	if host && e.cfg.PerAddress > 0 {
		return e.addresses.Slot(ctx, key)
	}
	return key
}

// resolve gives the requests of a step the slots of their addresses, before they
// are queued: a name whose address is known too late would have had a limit of its
// own. All hosts are looked up together.
func (e *Engine) resolve(ctx context.Context, entries []scheduler.Entry) {
	if e.cfg.PerAddress == 0 || len(entries) == 0 {
		return
	}
	found := map[string]string{}
	for i := range entries {
		if key, host := e.slotKey(entries[i].Request); host {
			found[key] = ""
		}
	}
	e.lookUp(ctx, found)
	for i := range entries {
		if key, host := e.slotKey(entries[i].Request); host {
			entries[i].Slot = found[key]
		}
	}
}

// lookUp fills in the slots of hosts.
func (e *Engine) lookUp(ctx context.Context, hosts map[string]string) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, maxLookups)
	names := make([]string, 0, len(hosts))
	for host := range hosts {
		names = append(names, host)
	}
	for _, host := range names {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			slot := e.addresses.Slot(ctx, host)
			mu.Lock()
			defer mu.Unlock()
			hosts[host] = slot
		})
	}
	wg.Wait()
}
