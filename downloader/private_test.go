package downloader

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// memos#6101, spider-rs#409: what net.IP.IsPrivate does not know, and all ways to
// write it.
func TestPublic(t *testing.T) {
	for want, addrs := range map[bool]string{
		false: "127.0.0.1 127.255.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.100.100.200 100.127.255.255 " +
			"169.254.169.254 0.0.0.0 0.1.2.3 192.0.0.192 198.18.0.1 198.19.255.255 192.0.2.1 198.51.100.1 203.0.113.1 224.0.0.1 " +
			"240.0.0.1 255.255.255.255 168.63.129.16 :: ::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 " +
			"2001:db8::1 2001::1 100::1 ::ffff:127.0.0.1 ::ffff:100.100.100.200 ::ffff:169.254.169.254 ::127.0.0.1 " +
			"64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 2002:7f00:1:: 2002:a9fe:a9fe::1 ::ffff:0:127.0.0.1 ::ffff:0:a9fe:a9fe",
		true: "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 " +
			"172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.17 " +
			"2606:4700:4700::1111 2a00:1450::1 fbff::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1 ::ffff:0:8.8.8.8",
	} {
		for addr := range strings.FieldsSeq(addrs) {
			if got := public(netip.MustParseAddr(addr)); got != want {
				t.Errorf("public(%s) = %v, want %v", addr, got, want)
			}
		}
	}
}

// DENY_PRIVATE_NETWORKS counts for the address that a connection goes to: however
// it is written, whatever name it has, and when a name moves to it later
// (memos#6101, spider-rs#409). It is not tried again.
func TestDenyPrivateNetworks(t *testing.T) {
	reached := 0
	s := serve(t, func(http.ResponseWriter, *http.Request) { reached++ })
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	var asked []string
	d := newDialer(t, DialConfig{DenyPrivate: true}, fixed(&asked, "127.0.0.1"))
	h, _ := newHandler(t, func(c *HTTPConfig) { c.Dial = d.Dial })
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.0.1.", "0x7f.1.", "0177.0.0.1", "0x7f000001", "017700000001", "0", "%31%32%37.0.0.1",
		"\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "[::127.0.0.1]", "[::ffff:169.254.169.254]", "localhost.",
		"inside.test.", "-inside.test", "💩.test", "metadata.google.internal", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "0x7f.1", "2130706433", "inside.test",
		"100.100.100.200", "[fd00:ec2::254]", "0.0.0.1", "[64:ff9b::7f00:1]",
	} {
		for scheme, f := range map[string]crawl.Fetcher{"http": h, "https": h, "ftp": NewFTP(FTPConfig{Dial: d.Dial})} {
			_, err := f.Fetch(t.Context(), &crawl.Request{URL: scheme + "://" + host + ":" + port + "/"})
			wantFailure(t, err, crawl.FailDenied, "AddressDeniedError")
		}
	}
	for _, host := range []string{"256.0.0.1", "1.2.3.4.5", "4294967296", "127.0.0.1%00", "[fe80::1%25lo]", "[::1", ""} { // no hosts
		for scheme, f := range map[string]crawl.Fetcher{"http": h, "https": h, "ftp": NewFTP(FTPConfig{Dial: d.Dial})} {
			_, err := f.Fetch(t.Context(), &crawl.Request{URL: scheme + "://" + host + ":" + port + "/"})
			wantFailure(t, err, crawl.FailUnsupported, "UnsupportedURLSchemeError")
		}
	}
	if reached != 0 {
		t.Errorf("%d requests arrived", reached)
	}
}

// A name that is first public and then private (DNS rebinding) is refused, and
// one that is both is used where it is public.
func TestDenyPrivateRebinding(t *testing.T) {
	s := serve(t, remote)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	answer := "8.8.8.8"
	lookup := func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr(answer), netip.MustParseAddr("127.0.0.1")}, nil
	}
	d, err := NewDialer(DialConfig{DenyPrivate: true}, NewAddresses(AddressConfig{}, lookup))
	if err != nil {
		t.Fatal(err)
	}
	var tried []string
	check := d.control
	d.control = func(ctx context.Context, network, address string, c syscall.RawConn) error {
		err := check(ctx, network, address, c)
		if err == nil {
			tried = append(tried, address)
			return context.Canceled // nothing is to leave this machine
		}
		return err
	}
	_, _ = d.Dial(t.Context(), "tcp", "moves.test:"+port)
	answer = "10.0.0.1"
	_, err = d.Dial(t.Context(), "tcp", "moves.test:"+port)
	wantFailure(t, classify(err), crawl.FailDenied, "AddressDeniedError")
	if want := "8.8.8.8:" + port; len(tried) != 1 || tried[0] != want {
		t.Errorf("connected to %v, want %s alone", tried, want)
	}
}

// With a proxy it is the proxy that connects, and what it allows is its business.
// What goes past it is refused as ever, also to the address of the proxy.
func TestDenyPrivateProxy(t *testing.T) {
	p, site := newProxy(t, false), secureSite(t)
	socks, _ := newSocks(t)
	var asked []string
	d := newDialer(t, DialConfig{DenyPrivate: true}, fixed(&asked, "127.0.0.1"))
	h, _ := newHandler(t, insecure, func(c *HTTPConfig) { c.Dial = d.Dial })
	named := strings.Replace(p.URL, "127.0.0.1", "proxy.test", 1)
	for _, c := range []struct{ url, proxy string }{
		{"http://far.test/", p.URL}, {"http://far.test/", named}, {"http://10.0.0.1/", named}, {site.URL, p.URL}, {site.URL, "socks5://u:p@" + socks},
	} {
		mustFetch(t, h, via(c.url, c.proxy))
	}
	past := via(p.URL, p.URL)
	past.Options.NoProxy = true
	for _, r := range []*crawl.Request{{URL: p.URL}, {URL: site.URL}, {URL: "http://far.test/"}, past} {
		_, err := h.Fetch(t.Context(), r)
		wantFailure(t, err, crawl.FailDenied, "AddressDeniedError")
	}
}
