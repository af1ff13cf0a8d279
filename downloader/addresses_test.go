package downloader

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
	if down || answer == nil {
		return nil, errors.New("no such host")
	}
	var addrs []netip.Addr
	for _, a := range answer {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

func newNames() *names {
	return &names{asked: map[string]int{}, answer: map[string][]string{
		"a.test": {"10.0.0.2", "10.0.0.1"}, "b.test": {"::1", "::ffff:10.0.0.1"}, "six.test": {"fe80::2%eth0", "fe80::1%eth0"},
	}}
}

// All names of a machine agree on its address, however it is written.
func TestAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewAddresses(newNames().lookup)
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
		a := NewAddresses(n.lookup)
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
		a := NewAddresses(n.lookup)
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
		<-time.After(time.Minute)
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
	})
}

// Who gives up gets the name, and leaves the lookup to the next who asks.
func TestAddressesGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewAddresses(newNames().lookup)
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

// Hosts that nobody asks for any more are forgotten.
func TestAddressesForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNames()
		a := NewAddresses(n.lookup)
		var wg sync.WaitGroup
		fill := func(from, to int) {
			for i := from; i < to; i++ {
				wg.Go(func() { a.Slot(t.Context(), fmt.Sprintf("%d.test", i)) })
			}
			wg.Wait()
		}
		fill(0, 1024)
		<-time.After(time.Hour)
		fill(1024, 1100)
		if got := len(a.hosts); got != 76 {
			t.Errorf("%d hosts are kept, want the last 76", got)
		}
	})
}
