// Package cookie reads what servers and users say about cookies and keeps it, by
// the rules that browsers follow (RFC 6265 §5), which are wider than the grammar
// for servers: net/http drops in silence what it does not like.
package cookie
