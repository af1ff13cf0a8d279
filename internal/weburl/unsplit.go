package weburl

import (
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/encoding"
	"golang.org/x/text/unicode/norm"
)

// encode puts the query into the encoding, unless that lacks one of its
// characters.
func (p *parts) encode(enc encoding.Encoding) {
	if enc == nil || p.scheme != "" && !inPageEncoding(p.scheme) {
		return
	}
	if query, err := enc.NewEncoder().String(p.query); err == nil {
		p.query = query
	}
}

// queryClass leaves the apostrophe out where the WHATWG standard escapes it.
func (p *parts) queryClass() uint16 {
	if isSpecial(p.scheme) {
		return safestQuery
	}
	return safest
}

// appendPrefix appends all that stands before the path, with the slashes that
// Python's urlunsplit puts there. For the canonical form the host is in lower
// case to its end.
func (p *parts) appendPrefix(dst []byte, canonical bool) []byte {
	if p.scheme != "" {
		dst = append(append(dst, p.scheme...), ':')
	}
	start := len(dst)
	dst = append(dst, "//"...)
	dst = p.appendUser(dst)
	dst = p.appendHost(dst, canonical)
	switch {
	case len(dst) > start+2:
		if p.path != "" && p.path[0] != '/' {
			dst = append(dst, '/')
		}
		return dst
	case strings.HasPrefix(p.path, "//"),
		usesAuthority(p.scheme) && (p.path == "" || p.path[0] == '/'):
		return dst
	}
	return dst[:start]
}

func (p *parts) appendUser(dst []byte) []byte {
	if !p.hasUser {
		return dst
	}
	dst = appendRequoted(dst, p.user, userSafe)
	if p.hasPass {
		dst = appendRequoted(append(dst, ':'), p.pass, userSafe)
	}
	return append(dst, '@')
}

// appendHost appends host and port. Upper case after a "%" is a zone for
// w3lib, and stays in its safe form.
func (p *parts) appendHost(dst []byte, canonical bool) []byte {
	name, zone, found := strings.Cut(p.host, "%")
	name = lower(name)
	if found {
		name += "%" + zone
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	} else {
		name = hostASCII(name)
	}
	if canonical {
		name = lower(name)
	}
	dst = append(dst, name...)
	if p.port != "" {
		dst = append(append(dst, ':'), p.port...)
	}
	return dst
}

// lower differs from strings.ToLower in the one character that has two code
// points in lower case (Unicode SpecialCasing).
func lower(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
}

func (p *parts) appendFragment(dst []byte) []byte {
	if p.fragment == "" {
		return dst
	}
	return appendQuoted(append(dst, '#'), p.fragment, safest)
}

// appendRequoted decodes all escapes of s and escapes what lacks the class.
func appendRequoted(dst []byte, s string, class uint16) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if v := escaped(s, i); v >= 0 {
			c = byte(v)
			i += 2
		}
		if classes[c]&class != 0 {
			dst = append(dst, c)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return dst
}

// usesAuthority reports whether Python writes "//" before the path of a URL of
// the scheme that has no host.
func usesAuthority(scheme string) bool {
	switch scheme {
	case "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp", "snews",
		"prospero", "rtsp", "rtsps", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git", "git+ssh", "ws", "wss":
		return true
	}
	return false
}

// hasParams reports whether Python cuts ";params" off the last path segment of
// a URL of the scheme.
func hasParams(scheme string) bool {
	switch scheme {
	case "", "ftp", "hdl", "prospero", "http", "imap", "https", "shttp", "rtsp", "rtsps", "rtspu",
		"sip", "sips", "mms", "sftp", "tel":
		return true
	}
	return false
}

// idna2003 maps a label as Python's codec does: sharp s becomes ss.
var idna2003 = idna.New(idna.MapForLookup(), idna.Transitional(true), idna.StrictDomainName(false),
	idna.CheckHyphens(false), idna.VerifyDNSLength(false))

// hostASCII returns a host in A-labels, as Python's "idna" codec makes them
// after normalisation, or the host unchanged where that fails.
func hostASCII(host string) string {
	if isASCII(host) || len(host) > maxRepair {
		return host
	}
	labels := strings.FieldsFunc(norm.NFKC.String(host), isDot)
	if len(labels) == 0 || emptyLabel(host) {
		return host
	}
	for i, label := range labels {
		if !isASCII(label) {
			a, err := idna2003.ToASCII(label)
			if err != nil || a == "" {
				return host
			}
			labels[i] = a
		}
		if len(labels[i]) > 63 {
			return host
		}
	}
	ascii := strings.Join(labels, ".")
	if last := []rune(host); isDot(last[len(last)-1]) {
		ascii += "."
	}
	return ascii
}

// emptyLabel reports whether two dots follow each other or one comes first.
func emptyLabel(host string) bool {
	dot := true
	for _, r := range host {
		if isDot(r) && dot {
			return true
		}
		dot = isDot(r)
	}
	return false
}

func isDot(r rune) bool { return r == '.' || r == '。' || r == '．' || r == '｡' }
