package settings

import "slices"

func unsupportedMiddleware() []Def {
	return slices.Concat(
		unsupported("this version keeps no cookies", known("COOKIES_DEBUG", false), known("COOKIES_ENABLED", true, false)),
		unsupported("responses are decompressed always; to stop it, disable httpcompression in DOWNLOADER_MIDDLEWARES", known("COMPRESSION_ENABLED", true)),
		unsupported("downloads are counted always; to stop it, disable stats in DOWNLOADER_MIDDLEWARES", known("DOWNLOADER_STATS", true)),
		unsupported(
			"this version has no HTTP authentication; set the Authorization header",
			known("HTTPAUTH_DOMAIN", ""), secret("HTTPAUTH_PASS", ""), known("HTTPAUTH_USER", ""),
		),
		unsupported(
			"this version has no proxy middleware",
			known("HTTPPROXY_AUTH_ENCODING", "latin-1"), known("HTTPPROXY_ENABLED", true, false),
		),
		unsupported(
			"this version does not follow meta refresh",
			known("METAREFRESH_ENABLED", true, false),
			known("METAREFRESH_IGNORE_TAGS", []string{"noscript"}),
			known("METAREFRESH_MAXDELAY", 100),
		),
		unsupported(
			"this version sends no Referer header",
			known("REFERER_ENABLED", true, false),
			known("REFERRER_POLICIES", map[string]any{}),
			known("REFERRER_POLICY", "scrapy.spidermiddlewares.referer.DefaultReferrerPolicy"),
		),
		unsupported("which errors are retried is fixed", known("RETRY_EXCEPTIONS", []string{})),
		unsupported(
			"robots.txt is not supported by this version",
			known("ROBOTSTXT_PARSER", "scrapy.robotstxt.ProtegoRobotParser"), known("ROBOTSTXT_USER_AGENT", ""),
		),
		unsupported("this version does not limit the length of a URL", known("URLLENGTH_LIMIT", 2083, 0)),
		unsupported("this version does not watch how meta is copied", known("META_COPY_WARN_SKIP_KEYS", []string{})),
	)
}

func unsupportedCache() []Def {
	return unsupported(
		"this version has no HTTP cache",
		known("HTTPCACHE_ALWAYS_STORE", false),
		known("HTTPCACHE_DBM_MODULE", "dbm"),
		known("HTTPCACHE_DIR", "httpcache"),
		known("HTTPCACHE_ENABLED", false),
		known("HTTPCACHE_EXPIRATION_SECS", 0),
		known("HTTPCACHE_GZIP", false),
		known("HTTPCACHE_IGNORE_HTTP_CODES", []int{}),
		known("HTTPCACHE_IGNORE_MISSING", false),
		known("HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS", []string{}),
		known("HTTPCACHE_IGNORE_SCHEMES", []string{"file"}),
		known("HTTPCACHE_POLICY", "scrapy.extensions.httpcache.DummyPolicy"),
		known("HTTPCACHE_STORAGE", "scrapy.extensions.httpcache.FilesystemCacheStorage"),
	)
}

func unsupportedExtensions() []Def {
	return slices.Concat(
		unsupported(
			"this version has no AutoThrottle",
			known("AUTOTHROTTLE_DEBUG", false),
			known("AUTOTHROTTLE_ENABLED", false),
			known("AUTOTHROTTLE_MAX_DELAY", 60.0),
			known("AUTOTHROTTLE_START_DELAY", 5.0),
			known("AUTOTHROTTLE_TARGET_CONCURRENCY", 1.0),
		),
		unsupported(
			"this version does not close a crawl because items fail to come",
			known("CLOSESPIDER_PAGECOUNT_NO_ITEM", 0), known("CLOSESPIDER_TIMEOUT_NO_ITEM", 0),
		),
		unsupported(
			"this version does not watch its memory; set a limit with GOMEMLIMIT or a container",
			known("MEMDEBUG_ENABLED", false),
			known("MEMUSAGE_CHECK_INTERVAL_SECONDS", 60.0),
			known("MEMUSAGE_ENABLED", true, false),
			known("MEMUSAGE_LIMIT_MB", 0),
			known("MEMUSAGE_WARNING_MB", 0),
		),
		unsupported(
			"this version has no periodic log of statistics",
			known("PERIODIC_LOG_DELTA", ""), known("PERIODIC_LOG_STATS", ""), known("PERIODIC_LOG_TIMING_ENABLED", false),
		),
		unsupportedRemote(),
		unsupportedMail(),
	)
}

func unsupportedRemote() []Def {
	return slices.Concat(
		unsupported(
			"there is no telnet console",
			known("TELNETCONSOLE_ENABLED", true, false),
			known("TELNETCONSOLE_HOST", "127.0.0.1"),
			secret("TELNETCONSOLE_PASSWORD", ""),
			known("TELNETCONSOLE_PORT", []int{6023, 6073}),
			known("TELNETCONSOLE_USERNAME", "scrapy"),
		),
		unsupported(
			"this version has no remote control",
			known("REMOTE_CONTROL_ENABLED", true, false),
			known("REMOTE_CONTROL_JOBS_DIR", ""),
			known("REMOTE_CONTROL_OUTPUT_MAX_BYTES", 65536),
			known("REMOTE_CONTROL_TIMEOUT_DEFAULT", 30.0),
			known("REMOTE_CONTROL_TIMEOUT_MAX", 600.0),
			known("REMOTE_CONTROL_TRACEBACK_MAX_BYTES", 16384),
		),
	)
}

func unsupportedMail() []Def {
	return unsupported(
		"there is no mail",
		known("MAIL_FROM", "scrapy@localhost"),
		known("MAIL_HOST", "localhost"),
		secret("MAIL_PASS", ""),
		known("MAIL_PORT", 25),
		known("MAIL_SSL", false),
		known("MAIL_TLS", false),
		known("MAIL_USER", ""),
		known("MEMUSAGE_NOTIFY_MAIL", []string{}),
		known("STATSMAILER_RCPTS", []string{}),
	)
}
