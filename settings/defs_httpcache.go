package settings

import (
	"strings"
	"time"
)

const noDBM = "there is no storage in a DBM file"

func httpCacheDefs() []Def {
	return []Def{
		{Name: "HTTPCACHE_ENABLED", Default: false, Help: "Whether responses are stored on disk, and requests answered from there."},
		{
			Name: "HTTPCACHE_POLICY", Default: "dummy", Choices: []string{"dummy", "rfc9111"}, Open: true,
			Aliases: map[string]string{
				"rfc2616": "rfc9111",
				"scrapy.extensions.httpcache.DummyPolicy":   "dummy",
				"scrapy.extensions.httpcache.RFC2616Policy": "rfc9111",
			},
			Help: "What is stored and for how long it counts: dummy stores everything for ever, rfc9111 does what the servers say.",
		},
		{
			Name: "HTTPCACHE_STORAGE", Default: "filesystem", Choices: []string{"filesystem"}, Open: true,
			Aliases: map[string]string{"scrapy.extensions.httpcache.FilesystemCacheStorage": "filesystem"},
			Refused: map[string]string{"scrapy.extensions.httpcache.DbmCacheStorage": noDBM},
			Help:    "Where the cache is kept. A program may register its own.",
		},
		{
			Name: "HTTPCACHE_DIR", Default: "httpcache", Check: directory,
			Help: "Directory of the cache, below the working directory if it is relative. Each spider has a folder of its own in it.",
		},
		{
			Name: "HTTPCACHE_EXPIRATION_SECS", Default: time.Duration(0), ZeroIsOff: true,
			Help: "Age at which a stored response is removed, in seconds or as 12h. 0 is never.",
		},
		{
			Name: "HTTPCACHE_MAX_SIZE", Default: int64(0), ZeroIsOff: true,
			Help: "How much of the disk HTTPCACHE_DIR may take, in bytes or as 2GiB. Above it what was stored first is removed. 0 is no limit.",
		},
		{Name: "HTTPCACHE_GZIP", Default: false, Help: "Whether stored responses are compressed. Those of both kinds are read."},
		{Name: "HTTPCACHE_IGNORE_MISSING", Default: false, Help: "Whether requests that are not in the cache are ignored and not sent."},
		{Name: "HTTPCACHE_IGNORE_SCHEMES", Default: []string{"file"}, Help: "Schemes of URLs that the cache has nothing to do with."},
		{
			Name: "HTTPCACHE_IGNORE_HTTP_CODES", Default: []int{}, Check: statuses,
			Help: "Status codes of responses that the policy dummy does not store.",
		},
		{
			Name: "HTTPCACHE_ALWAYS_STORE", Default: false,
			Help: "Whether the policy rfc9111 stores also responses that it can use only after asking the server again.",
		},
		{
			Name: "HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS", Default: []string{},
			Help: "Directives of the responses' Cache-Control that the policy rfc9111 disregards, such as no-store.",
		},
	}
}

func directory(v any) error {
	if text := v.(string); text == "" || strings.Contains(text, "\x00") {
		return want("the path of a directory")
	}
	return nil
}
