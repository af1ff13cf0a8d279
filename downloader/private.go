package downloader

import (
	"net/netip"
	"slices"
)

// public reports whether an address belongs to the public internet. An IPv4
// address that lies in one of IPv6 counts as itself.
func public(addr netip.Addr) bool {
	addr = embedded(addr.WithZone(""))
	return !slices.ContainsFunc(notPublic(), func(p netip.Prefix) bool { return p.Contains(addr) })
}

// embedded returns the IPv4 address that an address leads to, or else the address.
func embedded(addr netip.Addr) netip.Addr {
	if addr = addr.Unmap(); addr.Is4() {
		return addr
	}
	b := addr.As16()
	at := -1
	switch {
	case prefix("64:ff9b::/96").Contains(addr), // NAT64, RFC 6052
		prefix("::ffff:0:0:0/96").Contains(addr): // IPv4-translated, RFC 2765
		at = 12
	case prefix("2002::/16").Contains(addr): // 6to4, RFC 3056
		at = 2
	case prefix("::/96").Contains(addr) && addr.Compare(netip.IPv6Loopback()) > 0: // IPv4-compatible, RFC 4291
		at = 12
	}
	if at < 0 {
		return addr
	}
	return netip.AddrFrom4([4]byte(b[at : at+4]))
}

func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

// notPublic are the networks that the registries of IANA for special addresses
// give out for other uses than the public internet, and the metadata service of a
// cloud that lies outside of them.
func notPublic() []netip.Prefix {
	return []netip.Prefix{
		prefix("0.0.0.0/8"),
		prefix("10.0.0.0/8"),
		prefix("100.64.0.0/10"), // behind the address translation of providers; 100.100.100.200 is a metadata service
		prefix("127.0.0.0/8"),
		prefix("168.63.129.16/32"), // a metadata service
		prefix("169.254.0.0/16"),   // 169.254.169.254 is the usual metadata service
		prefix("172.16.0.0/12"),
		prefix("192.0.0.0/24"),
		prefix("192.0.2.0/24"),
		prefix("192.168.0.0/16"),
		prefix("198.18.0.0/15"),
		prefix("198.51.100.0/24"),
		prefix("203.0.113.0/24"),
		prefix("224.0.0.0/3"), // multicast, reserved, broadcast
		prefix("::/127"),
		prefix("64:ff9b:1::/48"), // NAT64 within a network
		prefix("100::/64"),
		prefix("2001::/23"), // protocols, among them Teredo, which leads to IPv4
		prefix("2001:db8::/32"),
		prefix("3fff::/20"),
		prefix("5f00::/16"),
		prefix("fc00::/7"), // fd00:ec2::254 is a metadata service
		prefix("fe80::/10"),
		prefix("fec0::/10"),
		prefix("ff00::/8"),
	}
}
