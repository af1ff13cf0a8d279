package downloader

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// stagger is the time after which the next address of a host is tried beside the
// one before (RFC 8305 §5).
const stagger = 250 * time.Millisecond

// DialConfig is what a [Dialer] takes from the settings.
type DialConfig struct {
	// Bind is the address of this machine that connections leave from, with or
	// without a port. "" leaves it to the system.
	Bind string `setting:"DOWNLOAD_BIND_ADDRESS"`

	// DenyPrivate refuses addresses outside the public internet.
	DenyPrivate bool `setting:"DENY_PRIVATE_NETWORKS"`
}

// A Dialer opens the connections of a crawl: it knows the addresses of hosts,
// tries several of them as RFC 8305 says, and refuses those that it may not
// connect to. It is safe for concurrent use.
type Dialer struct {
	deny      bool
	bind      netip.AddrPort // the zero value leaves it to the system
	addresses *Addresses
	control   func(ctx context.Context, network, address string, c syscall.RawConn) error
}

// NewDialer returns a dialer that finds hosts by these addresses. The error for a
// bad address to bind names the setting.
func NewDialer(cfg DialConfig, addresses *Addresses) (*Dialer, error) {
	d := &Dialer{deny: cfg.DenyPrivate, addresses: addresses}
	d.control = d.check
	if cfg.Bind == "" {
		return d, nil
	}
	var err error
	if d.bind, err = parseBind(cfg.Bind); err != nil {
		return nil, fmt.Errorf("DOWNLOAD_BIND_ADDRESS=%q: %w", cfg.Bind, err)
	}
	return d, nil
}

// plainDialer is for handlers without one.
func plainDialer() *Dialer {
	d := &Dialer{addresses: NewAddresses(AddressConfig{}, net.DefaultResolver.LookupNetIP)}
	d.control = d.check
	return d
}

// parseBind reads an address of this machine; the port is 0 if there is none.
func parseBind(text string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), 0), nil
	}
	if bind, err := netip.ParseAddrPort(text); err == nil {
		return netip.AddrPortFrom(bind.Addr().Unmap(), bind.Port()), nil
	}
	return netip.AddrPort{}, errors.New("want an address of this machine, such as 192.0.2.7, or with a port 192.0.2.7:4000")
}

type bindKey struct{}

// WithBindAddress returns a context whose connections leave from an address of
// this machine, with or without a port, in place of DOWNLOAD_BIND_ADDRESS: for
// handlers, which pass on [crawl.Options.BindAddress]. With "" it is ctx itself.
func WithBindAddress(ctx context.Context, address string) (context.Context, error) {
	if address == "" {
		return ctx, nil
	}
	bind, err := parseBind(address)
	if err != nil {
		return ctx, fmt.Errorf("bind address %q: %w", address, err)
	}
	return context.WithValue(ctx, bindKey{}, bind), nil
}

// boundTo returns the address that the connections of a context are to leave from.
func boundTo(ctx context.Context) netip.AddrPort {
	bind, _ := ctx.Value(bindKey{}).(netip.AddrPort)
	return bind
}

// Dial opens a connection to "host:port". The network has to be "tcp". It ends
// with ctx. An address that DENY_PRIVATE_NETWORKS
// forbids is a [crawl.DownloadError] of kind [crawl.FailDenied], unless a proxy is
// there: which to use, no page decides.
func (d *Dialer) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil || network != "tcp" {
		return nil, fmt.Errorf("dial %s %s: want tcp and host:port", network, addr)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("dial %s: want a number as the port", addr)
	}
	bind := boundTo(ctx)
	if !bind.IsValid() {
		bind = d.bind
	}
	all, err := d.addresses.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	targets := alternate(all, bind.Addr(), uint16(port))
	if len(targets) == 0 {
		return nil, fmt.Errorf("dial %s: none of its addresses can be reached from %v", addr, bind.Addr())
	}
	return d.race(ctx, d.from(bind), targets)
}

// from returns what opens connections that leave from an address.
func (d *Dialer) from(bind netip.AddrPort) *net.Dialer {
	nd := &net.Dialer{ControlContext: d.control}
	if bind.IsValid() {
		nd.LocalAddr = net.TCPAddrFromAddrPort(bind)
	}
	return nd
}

// alternate returns what to connect to, the two kinds of addresses in turn,
// beginning with that of the first (RFC 8305 §4): of the kind of an address to
// leave from, if there is one.
func alternate(addrs []netip.Addr, from netip.Addr, port uint16) []netip.AddrPort {
	var kinds [2][]netip.AddrPort
	for _, addr := range addrs {
		kind := 0
		if addr.Unmap().Is4() != addrs[0].Unmap().Is4() {
			kind = 1
		}
		if !from.IsValid() || from.Is4() == addr.Unmap().Is4() {
			kinds[kind] = append(kinds[kind], netip.AddrPortFrom(addr, port))
		}
	}
	var all []netip.AddrPort
	for i := range max(len(kinds[0]), len(kinds[1])) {
		for _, kind := range kinds {
			if i < len(kind) {
				all = append(all, kind[i])
			}
		}
	}
	return all
}

// dialed is what became of one try.
type dialed struct {
	conn net.Conn
	err  error
}

// race returns the first connection to one of several targets. The next is tried
// when the one before failed, or has not answered for a while. Of several errors
// the first counts.
func (d *Dialer) race(ctx context.Context, nd *net.Dialer, targets []netip.AddrPort) (net.Conn, error) {
	if len(targets) == 1 {
		return nd.DialContext(ctx, "tcp", targets[0].String())
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan dialed)
	running := 0
	defer func() {
		cancel()
		for ; running > 0; running-- {
			if late := <-results; late.conn != nil {
				_ = late.conn.Close() // nobody has used it
			}
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var first error
	for running > 0 || len(targets) > 0 {
		select {
		case r := <-results:
			running--
			if r.err == nil {
				return r.conn, nil
			}
			if first == nil {
				first = r.err
			}
			timer.Reset(0)
		case <-timer.C:
			if len(targets) == 0 {
				continue
			}
			to := targets[0].String()
			targets = targets[1:]
			running++
			go func() {
				c, err := nd.DialContext(ctx, "tcp", to)
				results <- dialed{c, err}
			}()
			timer.Reset(stagger)
		}
	}
	return nil, first
}

// check refuses an address before anything is sent to it.
func (d *Dialer) check(ctx context.Context, _, address string, _ syscall.RawConn) error {
	if proxy := ctx.Value(proxyKey{}); !d.deny || proxy != nil {
		return nil
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("check the address %s: %w", address, err)
	}
	if !public(to.Addr()) {
		return denied(fmt.Errorf("%v is no address of the public internet, and DENY_PRIVATE_NETWORKS is set", to.Addr()))
	}
	return nil
}
