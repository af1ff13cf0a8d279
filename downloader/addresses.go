package downloader

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// addressLife is how long the addresses of a host are believed. The resolvers
	// of systems do not tell how long their answers live.
	addressLife = 5 * time.Minute

	// goneLife is how long it is believed that a host does not exist, and how long
	// its last addresses serve before name servers that do not answer are asked
	// again.
	goneLife = 30 * time.Second

	// failureLife is how long a host counts as failed because name servers did not
	// answer (RFC 9520).
	failureLife = 5 * time.Second

	maxAddresses = 16 // of one host
)

// Lookup finds the addresses of a host, as [net.Resolver.LookupNetIP] does.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// AddressConfig is what [Addresses] takes from the settings.
type AddressConfig struct {
	// Cache keeps answers. Without it, each question goes to the resolver.
	Cache bool `setting:"DNSCACHE_ENABLED"`

	// Size is how many hosts are known at most: those asked for last.
	Size int `setting:"DNSCACHE_SIZE"`

	// Timeout bounds one lookup. 0 is no limit.
	Timeout time.Duration `setting:"DNS_TIMEOUT"`
}

// Addresses are the addresses of hosts, kept for five minutes each. That a host
// does not exist is kept for half a minute, and that nobody could tell for five
// seconds; but as long as name servers do not answer, the last addresses serve
// on. It is safe for concurrent use; of many who ask for a host at once one looks
// it up, and the others wait for that.
type Addresses struct {
	cfg    AddressConfig
	lookup Lookup

	mu    sync.Mutex
	hosts map[string]*list.Element // of *address
	order list.List                // by last use, newest first
}

// address is what is known of a host.
type address struct {
	host  string
	addrs []netip.Addr
	err   error         // why there are none
	until time.Time     // when it is to be looked up again
	busy  chan struct{} // closed when the lookup in progress ends; nil without one
}

// NewAddresses returns one that knows no host yet.
func NewAddresses(cfg AddressConfig, lookup Lookup) *Addresses {
	return &Addresses{cfg: cfg, lookup: lookup, hosts: map[string]*list.Element{}}
}

// Slot returns the slot of a host that counts by address, for limits that hold
// for a machine: of its addresses the lowest, IPv4 first, so that all names of a
// machine agree; or the host itself if it has none. It waits for the resolver,
// for DNS_TIMEOUT or until ctx is done at most.
func (a *Addresses) Slot(ctx context.Context, host string) string {
	if host == "" {
		return host
	}
	addrs, err := a.Lookup(ctx, host)
	if err != nil {
		return host
	}
	return addressKey(slices.MinFunc(addrs, netip.Addr.Compare))
}

// Lookup returns the addresses of a host, at least one, in the order in which they
// are to be tried. They must not be changed. A host may be an address, also in
// brackets. It waits for the resolver, for DNS_TIMEOUT or until ctx is done at
// most, and returns the cause of ctx then. Other errors are of the resolver, as a
// rule a [net.DNSError].
func (a *Addresses) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return []netip.Addr{addr}, nil
	}
	if !a.cfg.Cache {
		return a.query(ctx, host)
	}
	for ctx.Err() == nil {
		known, mine := a.ask(host)
		switch {
		case mine:
			return a.resolve(ctx, host)
		case known.busy == nil || len(known.addrs) > 0:
			return known.addrs, known.err
		}
		select {
		case <-known.busy:
		case <-ctx.Done():
		}
	}
	return nil, context.Cause(ctx)
}

// ask returns what is known of a host; mine says that the caller has to look it
// up.
func (a *Addresses) ask(host string) (known address, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.hosts[host]
	if e == nil {
		a.evict()
		e = a.order.PushFront(&address{host: host})
		a.hosts[host] = e
	}
	a.order.MoveToFront(e)
	h := e.Value.(*address)
	if h.busy == nil && !time.Now().Before(h.until) {
		h.busy = make(chan struct{})
		return *h, true
	}
	return *h, false
}

// evict makes room for one more host. What is being looked up stays.
func (a *Addresses) evict() {
	for e := a.order.Back(); e != nil && len(a.hosts) >= a.cfg.Size; {
		last := e
		e = e.Prev()
		if h := last.Value.(*address); h.busy == nil {
			delete(a.hosts, h.host)
			a.order.Remove(last)
		}
	}
}

// resolve looks a host up for all who ask. If it ends because nobody waits any
// more, everything is left to the next who asks.
func (a *Addresses) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := a.query(ctx, host)
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.hosts[host].Value.(*address)
	close(h.busy)
	h.busy = nil
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	h.learn(addrs, err, time.Now())
	return h.addrs, h.err
}

// learn takes the answer to a lookup.
func (h *address) learn(addrs []netip.Addr, err error, now time.Time) {
	var dns *net.DNSError
	switch {
	case err == nil:
		h.addrs, h.err, h.until = addrs, nil, now.Add(addressLife)
	case errors.As(err, &dns) && dns.IsNotFound:
		h.addrs, h.err, h.until = nil, err, now.Add(goneLife)
	case len(h.addrs) > 0:
		h.until = now.Add(goneLife)
	default:
		h.err, h.until = err, now.Add(failureLife)
	}
}

// query asks the resolver.
func (a *Addresses) query(ctx context.Context, host string) ([]netip.Addr, error) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if a.cfg.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, a.cfg.Timeout)
	}
	defer cancel()
	addrs, err := a.lookup(limited, "ip", host)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && limited.Err() != nil:
		return nil, &net.DNSError{Name: host, Err: fmt.Sprintf("no answer within %v (DNS_TIMEOUT)", a.cfg.Timeout), IsTemporary: true}
	case err != nil:
		return nil, err
	}
	return usable(host, addrs)
}

// usable returns the addresses of an answer. The unspecified address stands for a
// host that is blocked, and would lead to this machine.
func usable(host string, addrs []netip.Addr) ([]netip.Addr, error) {
	good := make([]netip.Addr, 0, len(addrs))
	for _, addr := range addrs {
		if addr = addr.Unmap(); !addr.IsUnspecified() && len(good) < maxAddresses { // some resolvers write IPv4 in the other form
			good = append(good, addr)
		}
	}
	if len(good) == 0 {
		return nil, &net.DNSError{Name: host, Err: "the name servers give it no address that can be used", IsNotFound: true}
	}
	return good, nil
}

// addressKey is the same for an address however it is written.
func addressKey(a netip.Addr) string { return a.Unmap().WithZone("").String() }
