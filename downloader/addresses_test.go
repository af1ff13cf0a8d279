package downloader

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// names is a resolver that takes a second, fails while it is down, and counts.
type names struct {
	mu     sync.Mutex
	down   bool
	asked  map[string]int
	answer map[string][]string
}

func (n *names) lookup(ctx context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	n.asked[host]++
	down, answer := n.down, n.answer[host]
	n.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch {
	case down:
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	case answer == nil:
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var addrs []netip.Addr
	for _, a := range answer {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

// cached are the settings' own limits.
var cached = AddressConfig{Cache: true, Size: 10000, Timeout: time.Minute}

func newNames() *names {
	return &names{asked: map[string]int{}, answer: map[string][]string{
		"a.test": {"10.0.0.2", "10.0.0.1"}, "b.test": {"::1", "::ffff:10.0.0.1"}, "six.test": {"fe80::2%eth0", "fe80::1%eth0"},
	}}
}

// All names of a machine agree on its address, however it is written.
func TestAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewAddresses(cached, newNames().lookup)
		for host, want := range map[string]string{
			"a.test": "10.0.0.1", "b.test": "10.0.0.1", "six.test": "fe80::1", "nowhere.test": "nowhere.test",
			"10.0.0.1": "10.0.0.1", "[::ffff:10.0.0.1]": "10.0.0.1", "[::1]": "::1", "": "",
		} {
			if got := a.Slot(t.Context(), host); got != want {
				t.Errorf("Slot(%q) = %q, want %q", host, got, want)
			}
		}
	})
}

// Many who ask at once wait for one lookup, and none of them gets the name.
func TestAddressesAskOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNames()
		a := NewAddresses(cached, n.lookup)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got := a.Slot(t.Context(), "a.test"); got != "10.0.0.1" {
					t.Errorf("Slot = %q, want the address", got)
				}
			})
		}
		wg.Wait()
		if n.asked["a.test"] != 1 {
			t.Errorf("asked %d times, want once", n.asked["a.test"])
		}
	})
}

// Answers and failures have a lifetime, and a failure leaves the last answer.
func TestAddressesLive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNames()
		a := NewAddresses(cached, n.lookup)
		check := func(what, host, want string, asked int) {
			t.Helper()
			if got := a.Slot(t.Context(), host); got != want || n.asked[host] != asked {
				t.Errorf("%s: Slot(%q) = %q after %d lookups, want %q after %d", what, host, got, n.asked[host], want, asked)
			}
		}
		n.down = true
		check("down", "a.test", "a.test", 1)
		n.down = false
		check("soon after", "a.test", "a.test", 1)
		<-time.After(failureLife)
		check("up", "a.test", "10.0.0.1", 2)
		n.answer["a.test"] = []string{"10.0.0.9"}
		<-time.After(4 * time.Minute)
		check("within its life", "a.test", "10.0.0.1", 2)
		<-time.After(2 * time.Minute)
		check("moved", "a.test", "10.0.0.9", 3)
		n.down = true
		<-time.After(6 * time.Minute)
		check("down again", "a.test", "10.0.0.9", 4)
		check("soon after", "a.test", "10.0.0.9", 4)
		n.down, n.answer["a.test"] = false, nil
		<-time.After(goneLife)
		check("gone", "a.test", "a.test", 5)
		<-time.After(goneLife - 2*time.Second)
		check("still gone", "a.test", "a.test", 5)
		n.answer["a.test"] = []string{"10.0.0.3"}
		<-time.After(2 * time.Second)
		check("back", "a.test", "10.0.0.3", 6)
	})
}

// Who gives up gets the name, and leaves the lookup to the next who asks.
func TestAddressesGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewAddresses(cached, newNames().lookup)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if got := a.Slot(ctx, "a.test"); got != "a.test" {
				t.Errorf("Slot = %q, want the name", got)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if got := a.Slot(t.Context(), "a.test"); got != "10.0.0.1" {
				t.Errorf("Slot = %q, want the address", got)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if got := a.Slot(ctx, "a.test"); got != "a.test" {
				t.Errorf("Slot = %q, want the name", got)
			}
		})
		wg.Wait()
	})
}

// DNSCACHE_SIZE: of more hosts than that, those asked for last are known.
func TestAddressesForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNames()
		a := NewAddresses(AddressConfig{Cache: true, Size: 3}, n.lookup)
		for _, host := range []string{"0.test", "1.test", "2.test", "0.test", "3.test", "0.test", "1.test"} {
			a.Slot(t.Context(), host)
		}
		if len(a.hosts) != 3 || a.order.Len() != 3 {
			t.Errorf("%d hosts are kept, want 3", len(a.hosts))
		}
		if n.asked["0.test"] != 1 || n.asked["1.test"] != 2 {
			t.Errorf("asked %v, want once for the host in use, and again for the oldest", n.asked)
		}
		var wg sync.WaitGroup
		for i := range 10 { // those in progress are not forgotten
			wg.Go(func() { a.Slot(t.Context(), fmt.Sprintf("busy%d.test", i)) })
		}
		wg.Wait()
		if n.asked["busy0.test"] != 1 || n.asked["busy9.test"] != 1 {
			t.Errorf("asked %v, want once for each", n.asked)
		}
	})
}

// While an address that is not believed any more is looked up, others use it.
func TestAddressesStale(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNames()
		a := NewAddresses(cached, n.lookup)
		a.Slot(t.Context(), "a.test")
		<-time.After(addressLife)
		n.answer["a.test"] = []string{"10.0.0.9"}
		var wg sync.WaitGroup
		wg.Go(func() {
			if got := a.Slot(t.Context(), "a.test"); got != "10.0.0.9" {
				t.Errorf("Slot = %q, want the new address for who looks it up", got)
			}
		})
		synctest.Wait()
		before := time.Now()
		if got := a.Slot(t.Context(), "a.test"); got != "10.0.0.1" || time.Since(before) != 0 {
			t.Errorf("Slot = %q after %v, want the old address at once", got, time.Since(before))
		}
		wg.Wait()
	})
}

// DNS_TIMEOUT ends a lookup, and is no time-out of the download.
func TestAddressesTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, cache := range []bool{true, false} {
			a := NewAddresses(AddressConfig{Cache: cache, Size: 1, Timeout: 500 * time.Millisecond}, newNames().lookup)
			_, err := a.Lookup(t.Context(), "a.test")
			wantFailure(t, classify(err), crawl.FailDNS, "CannotResolveHostError")
			if want := "lookup a.test: no answer within 500ms (DNS_TIMEOUT)"; err.Error() != want {
				t.Errorf("error = %v, want %s", err, want)
			}
		}
	})
}

// DNSCACHE_ENABLED=False asks each time.
func TestAddressesWithoutCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNames()
		a := NewAddresses(AddressConfig{}, n.lookup)
		for range 2 {
			if addrs, err := a.Lookup(t.Context(), "b.test"); err != nil || fmt.Sprint(addrs) != "[::1 10.0.0.1]" {
				t.Errorf("Lookup = %v, %v", addrs, err)
			}
		}
		if n.asked["b.test"] != 2 {
			t.Errorf("asked %d times, want 2", n.asked["b.test"])
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(crawl.ErrStopped)
		if _, err := a.Lookup(ctx, "b.test"); !errors.Is(err, crawl.ErrStopped) {
			t.Errorf("error = %v, want the cause of the context", err)
		}
	})
}

// heritrix3#665: names that are answered with 0.0.0.0 are blocked, and lead
// nowhere, least of all to this machine.
func TestAddressesUnspecified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNames()
		n.answer["blocked.test"] = []string{"0.0.0.0", "::", "::ffff:0.0.0.0"}
		n.answer["half.test"] = []string{"0.0.0.0", "10.0.0.5"}
		a := NewAddresses(cached, n.lookup)
		_, err := a.Lookup(t.Context(), "blocked.test")
		wantFailure(t, classify(err), crawl.FailDNS, "CannotResolveHostError")
		if addrs, err := a.Lookup(t.Context(), "half.test"); err != nil || fmt.Sprint(addrs) != "[10.0.0.5]" {
			t.Errorf("Lookup = %v, %v, want the good one", addrs, err)
		}
	})
}
