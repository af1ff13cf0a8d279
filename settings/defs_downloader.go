package settings

import "time"

func downloaderDefs() []Def {
	return []Def{
		{
			Name: "USER_AGENT", Default: DefaultUserAgent, Check: plainText,
			Help: "The User-Agent header of requests that set none. None sends no default.",
		},
		{
			Name: "DEFAULT_REQUEST_HEADERS", Check: headers, Default: map[string]any{
				"Accept":          "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
				"Accept-Language": "en",
			},
			Help: "Headers of requests that do not set them. It replaces the default as a whole.",
		},
		{
			Name: "CONCURRENT_REQUESTS_PER_DOMAIN", Default: 8, Check: atLeast(1, "a count"),
			Help: "How many requests may be in progress at once for one domain.",
		},
		{
			Name: "CONCURRENT_REQUESTS_PER_IP", Default: 0, Check: count, ZeroIsOff: true,
			Help: "How many requests may be in progress at once for one address, in place of CONCURRENT_REQUESTS_PER_DOMAIN; delays count for each address then. " +
				"It needs SCHEDULER_PRIORITY_QUEUE=priority. 0 is by domain.",
		},
		{
			Name: "DOWNLOAD_DELAY", Default: time.Duration(0), ZeroIsOff: true,
			Help: "Least time between two requests to one domain, in seconds or as 250ms. 0 is none.",
		},
		{
			Name: "RANDOMIZE_DOWNLOAD_DELAY", Default: true,
			Help: "Whether each delay is drawn from 0.5 to 1.5 times DOWNLOAD_DELAY.",
		},
		{
			Name: "DOWNLOAD_TIMEOUT", Default: 180 * time.Second, Check: aboveZero,
			Help: "How long a download may take, in seconds or as 3m.",
		},
		{
			Name: "DOWNLOAD_MAXSIZE", Default: int64(64 << 20), ZeroIsOff: true,
			Help: "Largest response body, before and after decompression, in bytes or as 64MiB. 0 is no limit.",
		},
		{
			Name: "DOWNLOAD_WARNSIZE", Default: int64(32 << 20), ZeroIsOff: true,
			Help: "Size of a response body above which a warning is logged, in bytes or as 32MiB. 0 is never.",
		},
		{
			Name: "DOWNLOAD_FAIL_ON_DATALOSS", Default: true,
			Help: "Whether a response cut short is an error; else it is passed on with the flag dataloss.",
		},
		{
			Name: "DOWNLOAD_MAX_ACTIVE_SIZE", Default: int64(256 << 20), ZeroIsOff: true,
			Help: "Bytes of response bodies that may be held at one time, from their first byte to the end of their callbacks; " +
				"beyond that, downloads wait for each other. 0 is no limit.",
		},
		{
			Name: "HTTP_STRICT", Default: false,
			Help: "Whether a response that breaks the rules of HTTP is an error, even if browsers can read it; " +
				"else it is mended and flagged.",
		},
		{
			Name: "DOWNLOAD_MAX_IDLE_CONNECTIONS", Default: 256, Check: atLeast(1, "a count"),
			Help: "How many idle connections are kept open, over all hosts.",
		},
	}
}
