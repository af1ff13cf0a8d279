// Package httpcache is the downloader middleware that keeps responses and
// answers requests with them. What is stored and how long it counts is decided
// by a [Policy], where it is kept by a [Storage]; programs may register their own.
//
// It is the innermost middleware: bodies are stored as they came over the wire,
// and what the other middlewares do to a response they do to one from the cache
// too.
package httpcache
