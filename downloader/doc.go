// Package downloader turns requests into responses: the slots that pace the
// requests of each domain, the handlers that speak to servers, and the rules by
// which a failed or refused request is tried again. The layers around a handler
// are middlewares, see [Middlewares].
package downloader
