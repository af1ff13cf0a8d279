package settings

import "slices"

func unsupportedMiddleware() []Def {
	return slices.Concat(
		unsupported("downloads are counted always; to stop it, disable stats in DOWNLOADER_MIDDLEWARES", known("DOWNLOADER_STATS", true)),
		unsupported("robots.txt is read by the rules of RFC 9309", known("ROBOTSTXT_PARSER", "scrapy.robotstxt.ProtegoRobotParser")),
		unsupported("this version does not watch how meta is copied", known("META_COPY_WARN_SKIP_KEYS", []string{})),
	)
}

func unsupportedCache() []Def {
	return unsupported(noDBM, known("HTTPCACHE_DBM_MODULE", "dbm"))
}

func unsupportedExtensions() []Def {
	return slices.Concat(
		unsupported("there are no Python objects to count", known("MEMDEBUG_ENABLED", false)),
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
