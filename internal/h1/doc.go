// Package h1 reads HTTP/1 responses the way browsers do, where a server breaks
// the rules of RFC 9112 and net/http would lose the response.
package h1
