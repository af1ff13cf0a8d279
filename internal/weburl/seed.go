package weburl

import (
	"errors"
	"fmt"
	"strings"
)

// Clean returns the URL that a person means who types u as a seed or writes it
// in a list, in the form that goes on the wire. Whitespace around it is
// stripped and a missing scheme is http, as in a browser's address bar:
// "example.com:8080/x" and "192.168.2.2:6688" are hosts with ports. It refuses
// ports that do not exist, paths, and schemes that name no place to fetch from
// (mailto, javascript); the error says what would be right.
func Clean(u string) (string, error) {
	seed, err := withScheme(strings.TrimSpace(trimEnds(u)))
	if err != nil {
		return "", fmt.Errorf("seed %q: %w", clip(u), err)
	}
	return Resolve("", seed)
}

// withScheme puts http in front of a seed without scheme.
func withScheme(seed string) (string, error) {
	if seed == "" {
		return "", errors.New("empty; want a URL such as https://example.com/")
	}
	if strings.HasPrefix(seed, "//") {
		return "http:" + seed, nil
	}
	if c := seed[0]; c == '/' || c == '.' || c == '\\' || c == '?' || c == '#' {
		return "", errors.New("a path, not a URL; want https://… or file:///…")
	}
	scheme := Scheme(seed)
	if scheme == "" || isHostPort(seed, scheme) {
		return "http://" + seed, nil
	}
	rest := seed[len(scheme)+1:]
	if strings.HasPrefix(rest, "//") || isSpecial(scheme) || scheme == "data" || scheme == "about" {
		return seed, nil
	}
	return "", fmt.Errorf("scheme %q cannot be crawled; want http, https, ftp, file or data", scheme)
}

// isHostPort reports whether what looks like a scheme is a host or a user name:
// a port or a password follows, or a dot is in it and no slashes follow.
func isHostPort(seed, scheme string) bool {
	rest := seed[len(scheme)+1:]
	if strings.HasPrefix(rest, "//") || scheme == "data" || scheme == "about" {
		return false
	}
	port := rest[:delimiter(rest)]
	if strings.Contains(port, "@") {
		return scheme != "mailto"
	}
	digits := port != "" && strings.Trim(port, "0123456789") == ""
	return digits || strings.Contains(scheme, ".") || scheme == "localhost"
}
