package settings

import "time"

const componentHelp = " A JSON object from name to order; null disables one."

func componentDefs() []Def {
	none := map[string]int{}
	return []Def{
		{
			Name: "DOWNLOADER_MIDDLEWARES", Default: none, Aliases: downloaderMiddlewares(),
			Help: "Downloader middlewares to add, move or disable." + componentHelp,
		},
		{
			Name: "DOWNLOADER_MIDDLEWARES_BASE", Aliases: downloaderMiddlewares(), Default: map[string]int{
				"offsite": 50, "robotstxt": 100, "httpauth": 300, "downloadtimeout": 350, "defaultheaders": 400, "useragent": 500, "retry": 550,
				"metarefresh": 580, "httpcompression": 590, "redirect": 600,
				"cookies": 700, "httpproxy": 750, "stats": 850, "httpcache": 900,
			},
			Help: "The built-in downloader middlewares; change DOWNLOADER_MIDDLEWARES instead.",
		},
		{
			Name: "SPIDER_MIDDLEWARES", Default: none, Aliases: spiderMiddlewares(),
			Help: "Spider middlewares to add, move or disable." + componentHelp,
		},
		{
			Name: "SPIDER_MIDDLEWARES_BASE", Aliases: spiderMiddlewares(),
			Default: map[string]int{"start": 25, "httperror": 50, "referer": 700, "urllength": 800, "depth": 900},
			Help:    "The built-in spider middlewares; change SPIDER_MIDDLEWARES instead.",
		},
		{
			Name: "EXTENSIONS", Default: none, Aliases: extensions(),
			Help: "Extensions to add, move or disable." + componentHelp,
		},
		{
			Name: "EXTENSIONS_BASE", Aliases: extensions(),
			Default: map[string]int{"closespider": 0, "corestats": 0, "logstats": 0, "memusage": 0, "spiderstate": 0},
			Help:    "The built-in extensions; change EXTENSIONS instead.",
		},
	}
}

func downloaderMiddlewares() map[string]string {
	return map[string]string{
		"scrapy.downloadermiddlewares.cookies.CookiesMiddleware":                 "cookies",
		"scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware":   "defaultheaders",
		"scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": "downloadtimeout",
		"scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware":               "httpauth",
		"scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware":             "httpcache",
		"scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": "httpcompression",
		"scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware":            "metarefresh",
		"scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware":             "robotstxt",
		"scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware":             "httpproxy",
		"scrapy.downloadermiddlewares.offsite.OffsiteMiddleware":                 "offsite",
		"scrapy.downloadermiddlewares.redirect.RedirectMiddleware":               "redirect",
		"scrapy.downloadermiddlewares.retry.RetryMiddleware":                     "retry",
		"scrapy.downloadermiddlewares.stats.DownloaderStats":                     "stats",
		"scrapy.downloadermiddlewares.useragent.UserAgentMiddleware":             "useragent",
	}
}

func spiderMiddlewares() map[string]string {
	return map[string]string{
		"scrapy.spidermiddlewares.depth.DepthMiddleware":         "depth",
		"scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": "httperror",
		"scrapy.spidermiddlewares.referer.RefererMiddleware":     "referer",
		"scrapy.spidermiddlewares.start.StartSpiderMiddleware":   "start",
		"scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": "urllength",
	}
}

func extensions() map[string]string {
	return map[string]string{
		"scrapy.extensions.closespider.CloseSpider": "closespider",
		"scrapy.extensions.corestats.CoreStats":     "corestats",
		"scrapy.extensions.logstats.LogStats":       "logstats",
		"scrapy.extensions.memusage.MemoryUsage":    "memusage",
		"scrapy.extensions.spiderstate.SpiderState": "spiderstate",
	}
}

func middlewareDefs() []Def {
	return []Def{
		{Name: "RETRY_ENABLED", Default: true, Help: "Whether failed requests are tried again."},
		{Name: "RETRY_TIMES", Default: 2, Check: count, Help: "How often a request is tried again after the first attempt."},
		{
			Name: "RETRY_HTTP_CODES", Default: []int{500, 502, 503, 504, 522, 524, 408, 429}, Check: statuses,
			Help: "Status codes after which a request is tried again.",
		},
		{
			Name: "RETRY_EXCEPTIONS", Default: []string{"timeout", "dns", "refused", "connection", "protocol", "data loss"}, Check: retryErrors,
			Help: "Errors after which a request is tried again: kinds of failure, Scrapy's names such as scrapy.exceptions.DownloadTimeoutError, " +
				"or types of Go errors such as mypackage.BusyError.",
		},
		{
			Name: "RETRY_BACKOFF", Default: time.Duration(0), ZeroIsOff: true,
			Help: "Time that a retry waits at most, in seconds or as 500ms, twice as long before each further one; each wait is drawn from 0 to that. 0 waits only where Retry-After says so.",
		},
		{
			Name: "RETRY_BACKOFF_MAX", Default: time.Minute, Check: aboveZero,
			Help: "Longest wait that RETRY_BACKOFF comes to, in seconds or as 1m.",
		},
		{Name: "RETRY_PRIORITY_ADJUST", Default: -1, Help: "What is added to the priority of a request that is tried again."},
		levelDef("RETRY_GIVE_UP_LOG_LEVEL", "ERROR", "Level of the log line for a request that failed too often."),
		{Name: "COMPRESSION_ENABLED", Default: true, Help: "Whether compressed responses are asked for and decompressed."},
		{Name: "METAREFRESH_ENABLED", Default: true, Help: "Whether the refresh of a page's meta element is followed like a redirect."},
		{
			Name: "METAREFRESH_MAXDELAY", Default: 100, Check: count,
			Help: "Seconds; a page that wants to be shown as long or longer before its refresh is handed to the callback.",
		},
		{
			Name: "METAREFRESH_IGNORE_TAGS", Default: []string{"noscript"},
			Help: "Elements in which a meta refresh does not count, by name.",
		},
		{Name: "REDIRECT_ENABLED", Default: true, Help: "Whether redirects are followed."},
		{Name: "REDIRECT_MAX_TIMES", Default: 20, Check: count, Help: "How many redirects a request may go through."},
		{Name: "REDIRECT_PRIORITY_ADJUST", Default: 2, Help: "What is added to the priority of a redirected request."},
		{
			Name: "HTTPERROR_ALLOWED_CODES", Default: []int{}, Check: statuses,
			Help: "Status codes outside 200 to 299 that callbacks want to see.",
		},
		{Name: "HTTPERROR_ALLOW_ALL", Default: false, Help: "Whether callbacks see responses of every status."},
		{
			Name: "DEPTH_LIMIT", Default: 0, Check: count, ZeroIsOff: true,
			Help: "How many links away from a start request the crawl may go. 0 is no limit.",
		},
		{
			Name: "DEPTH_PRIORITY", Default: 0,
			Help: "What is subtracted from the priority for each link away from a start request: a positive number crawls near pages first.",
		},
		{Name: "DEPTH_STATS_VERBOSE", Default: false, Help: "Whether requests are counted for each depth."},
	}
}
