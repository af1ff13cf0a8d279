package settings

import "slices"

func unsupportedLog() []Def {
	return slices.Concat(
		unsupported("the log is UTF-8", known("LOG_ENCODING", "utf-8")),
		unsupported("what a spider prints is not redirected into the log", known("LOG_STDOUT", false)),
		unsupported(
			"the form of log lines is fixed; LOG_FORMAT chooses between text and json",
			known("LOG_DATEFORMAT", "%Y-%m-%d %H:%M:%S"),
			known("LOG_FORMATTER", "scrapy.logformatter.LogFormatter"),
			known("LOG_SHORT_NAMES", false),
		),
		unsupported(
			"there are no Python libraries whose versions could be logged",
			known("LOG_VERSIONS", []string{
				"lxml", "libxml2", "cssselect", "parsel", "w3lib", "Twisted", "Python", "pyOpenSSL", "cryptography", "Platform",
			}, []string{}),
		),
	)
}

func unsupportedFeeds() []Def {
	return slices.Concat(
		unsupported("Scrapy deprecates it; name the feed in FEEDS or on the command line", known("FEED_FORMAT", "jsonlines"), known("FEED_URI", "")),
		unsupported(
			"exporters and storages of feeds cannot be replaced by a setting",
			known("FEED_EXPORTERS", map[string]any{}),
			known("FEED_EXPORTERS_BASE", map[string]any{}),
			known("FEED_STORAGES", map[string]any{}),
			known("FEED_STORAGES_BASE", map[string]any{}),
		),
		unsupported(
			"this version does not split a feed into several files",
			known("FEED_EXPORT_BATCH_ITEM_COUNT", 0),
		),
		unsupported("the name of a feed can hold %(time)s and %(name)s only", known("FEED_URI_PARAMS", "")),
		unsupported(
			"this version writes feeds to files and standard output only",
			known("FEED_STORAGE_FTP_ACTIVE", false),
			known("FEED_STORAGE_GCS_ACL", ""),
			known("FEED_STORAGE_S3_ACL", ""),
			known("FEED_TEMPDIR", ""),
		),
	)
}

func unsupportedMedia() []Def {
	return unsupported(
		"this version has no pipelines for files and images",
		known("FILES_EXPIRES", 90),
		known("FILES_RESULT_FIELD", "files"),
		known("FILES_STORE", ""),
		known("FILES_STORE_GCS_ACL", ""),
		known("FILES_STORE_S3_ACL", "private"),
		known("FILES_URLS_FIELD", "file_urls"),
		known("IMAGES_EXPIRES", 90),
		known("IMAGES_MIN_HEIGHT", 0),
		known("IMAGES_MIN_WIDTH", 0),
		known("IMAGES_RESULT_FIELD", "images"),
		known("IMAGES_STORE", ""),
		known("IMAGES_STORE_GCS_ACL", ""),
		known("IMAGES_STORE_S3_ACL", "private"),
		known("IMAGES_THUMBS", map[string]any{}),
		known("IMAGES_URLS_FIELD", "image_urls"),
		known("MEDIA_ALLOW_REDIRECTS", false),
	)
}

func unsupportedClouds() []Def {
	return unsupported(
		"this version has no cloud storage",
		secret("AWS_ACCESS_KEY_ID", ""),
		known("AWS_ENDPOINT_URL", ""),
		known("AWS_MAX_POOL_CONNECTIONS", ""),
		known("AWS_REGION_NAME", ""),
		secret("AWS_SECRET_ACCESS_KEY", ""),
		secret("AWS_SESSION_TOKEN", ""),
		known("AWS_USE_SSL", ""),
		known("AWS_VERIFY", ""),
		known("GCS_PROJECT_ID", ""),
	)
}
