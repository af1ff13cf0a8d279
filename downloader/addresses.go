package downloader

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// addressLife is how long the address of a host is believed, and failureLife
	// how long it is that a host has none.
	addressLife = 5 * time.Minute
	failureLife = 30 * time.Second

	lookupTimeout = 30 * time.Second

	fewAddresses = 1024 // that are kept whether they are still believed or not
)

// Lookup finds the addresses of a host, as [net.Resolver.LookupNetIP] does.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// Addresses tells which hosts are one machine, for limits that count by address:
// of the addresses of a host it takes the lowest, IPv4 first, so that all names
// of a machine agree. Answers are kept for five minutes, failures for half of
// one. It is safe for concurrent use; of many who ask for a host at once one looks
// it up, and the others wait for that.
type Addresses struct {
	lookup Lookup

	mu    sync.Mutex
	hosts map[string]*address
	most  int // hosts before those that are not believed any more are dropped
}

// address is what is known of a host.
type address struct {
	key   string        // "" before the first answer
	until time.Time     // when it is to be looked up again
	busy  chan struct{} // closed when the lookup in progress ends; nil without one
}

// NewAddresses returns one that knows no host yet.
func NewAddresses(lookup Lookup) *Addresses {
	return &Addresses{lookup: lookup, hosts: map[string]*address{}, most: fewAddresses}
}

// Slot returns the slot of a host that counts by address: its address, or the
// host itself if that has none. It waits for the resolver, for half a minute or
// until ctx is done at most.
func (a *Addresses) Slot(ctx context.Context, host string) string {
	if host == "" {
		return host
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addressKey(addr)
	}
	for ctx.Err() == nil {
		known, mine, busy := a.ask(host)
		switch {
		case busy == nil:
			return known.slot(host)
		case mine:
			a.resolve(ctx, host, busy)
		default:
			select {
			case <-busy:
			case <-ctx.Done():
			}
		}
	}
	return host
}

// ask returns what is known of a host. If that is to be looked up, busy is closed
// once it was; mine says that the caller has to do it.
func (a *Addresses) ask(host string) (known address, mine bool, busy chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.hosts[host]
	switch {
	case h == nil:
		a.sweep()
		h = &address{}
		a.hosts[host] = h
	case h.busy != nil:
		return *h, false, h.busy
	case time.Now().Before(h.until):
		return *h, false, nil
	}
	h.busy = make(chan struct{})
	return *h, true, h.busy
}

// resolve looks a host up. A failure leaves the last address, and one because
// nobody waits any more leaves everything to the next who asks.
func (a *Addresses) resolve(ctx context.Context, host string, busy chan struct{}) {
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := a.lookup(lookup, "ip", host)
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.hosts[host]
	h.busy = nil
	close(busy)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap() // some resolvers write IPv4 in the other form
	}
	switch {
	case err == nil && len(addrs) > 0:
		h.key, h.until = addressKey(slices.MinFunc(addrs, netip.Addr.Compare)), time.Now().Add(addressLife)
	case ctx.Err() == nil:
		h.until = time.Now().Add(failureLife)
	}
}

// sweep drops what is not believed any more, if there is much of it.
func (a *Addresses) sweep() {
	if len(a.hosts) < a.most {
		return
	}
	now := time.Now()
	for host, h := range a.hosts {
		if h.busy == nil && !now.Before(h.until) {
			delete(a.hosts, host)
		}
	}
	a.most = max(fewAddresses, 2*len(a.hosts))
}

// slot returns the slot of a host.
func (h address) slot(host string) string {
	if h.key == "" {
		return host
	}
	return h.key
}

// addressKey is the same for an address however it is written.
func addressKey(a netip.Addr) string { return a.Unmap().WithZone("").String() }
