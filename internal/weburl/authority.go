package weburl

import (
	"net/netip"
	"strings"
)

// cleanAuthority reports whether the WHATWG parser would copy the authority
// unchanged: a clean host and perhaps a port that is not the default one. The
// prefix is the scheme with "://".
func cleanAuthority(authority, prefix string) bool {
	host, port, has := strings.Cut(authority, ":")
	if has && !cleanPort(port, prefix) {
		return false
	}
	return cleanHost(host) && !strings.Contains(host, "xn--")
}

// cleanHost reports whether host is a lower-case ASCII domain name without
// empty labels, or an IPv4 address in its usual form. Only a last label that
// begins with a letter rules out the other forms of an IPv4 address (0x7f.1).
func cleanHost(host string) bool {
	start, last := true, 0
	for i := range len(host) {
		c := host[i]
		if classes[c]&inHost == 0 || start && c == '.' {
			return false
		}
		if start = c == '.'; start {
			last = i + 1
		}
	}
	if start {
		return false
	}
	return isLower(host[last]) || cleanIPv4(host)
}

func cleanIPv4(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is4()
}

// cleanPort reports whether port is written as the WHATWG parser would write
// it, and not the default of the scheme.
func cleanPort(port, prefix string) bool {
	return port != "" && port[0] != '0' && validPort(port) &&
		port != defaultPort(strings.TrimSuffix(prefix, "://"))
}

// validPort reports whether port is empty or a number of at most five digits
// that names a port.
func validPort(port string) bool {
	if len(port) > 5 {
		return false
	}
	n := 0
	for i := range len(port) {
		if !isDigit(port[i]) {
			return false
		}
		n = n*10 + int(port[i]-'0')
	}
	return n <= 65535
}

// defaultPort returns the port that a URL of the scheme need not name, or "".
func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	case "ftp":
		return "21"
	}
	return ""
}

// isSpecial reports whether the scheme is special (WHATWG URL §4.2).
func isSpecial(scheme string) bool {
	return scheme == "file" || defaultPort(scheme) != ""
}
