package downloader

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
)

// retrieveActive asks for a file over a data connection that the server opens, to
// the address of this machine that the control connection has.
func (c *ftpConn) retrieveActive(ctx context.Context, path string, sent *sending) error {
	local, err := addrPort(c.control.LocalAddr())
	if err != nil {
		return err
	}
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(local.Addr(), 0)))
	if err != nil {
		return fmt.Errorf("wait for the data connection: %w", err)
	}
	defer l.Close() //nolint:errcheck // it has done its work.
	c.watch(ctx, l)
	if local, err = addrPort(l.Addr()); err != nil {
		return err
	}
	if err := c.announce(local); err != nil {
		return err
	}
	sent.wrote()
	if _, _, err := c.command(1, "RETR %s", path); err != nil {
		return err
	}
	if c.data, err = c.accept(l); err != nil {
		return fmt.Errorf("wait for the data connection: %w", err)
	}
	c.watch(ctx, c.data)
	return nil
}

// announce tells where the data is awaited, by EPRT (RFC 2428), or PORT for servers
// that do not know that (RFC 959 §4.1.2).
func (c *ftpConn) announce(at netip.AddrPort) error {
	family := 1
	if at.Addr().Is6() {
		family = 2
	}
	_, _, err := c.command(2, "EPRT |%d|%s|%d|", family, at.Addr().WithZone(""), at.Port())
	var refusal *textproto.Error
	if !at.Addr().Is4() || !errors.As(err, &refusal) {
		return err
	}
	ip, port := at.Addr().As4(), at.Port()
	_, _, err = c.command(2, "PORT %d,%d,%d,%d,%d,%d", ip[0], ip[1], ip[2], ip[3], port>>8, port&0xff)
	return err
}

// accept returns the connection that the server opens. One from another machine is
// not its own: whoever finds the port first could else bring a file of theirs.
func (c *ftpConn) accept(l net.Listener) (net.Conn, error) {
	server, err := addrPort(c.control.RemoteAddr())
	if err != nil {
		return nil, err
	}
	for {
		data, err := l.Accept()
		if err != nil {
			return nil, err
		}
		if from, err := addrPort(data.RemoteAddr()); err == nil && from.Addr() == server.Addr() {
			return data, nil
		}
		_ = data.Close() // a stranger's
	}
}

// addrPort returns the address of one end of a connection.
func addrPort(addr net.Addr) (netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(addr.String())
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), err
}
