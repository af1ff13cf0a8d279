package settings

import "time"

// DefaultUserAgent is the default of USER_AGENT.
const DefaultUserAgent = "Skein (+https://github.com/skeincrawl/skein)"

func engineDefs() []Def {
	return []Def{
		{
			Name: "BOT_NAME", Default: "crawl", Check: notEmpty,
			Help: "Name of the crawler in the log.",
		},
		{
			Name: "CONCURRENT_REQUESTS", Default: 16, Check: atLeast(1, "a count"),
			Help: "How many requests may be in progress at once. Zero, which is no limit in Scrapy, is refused: every request in progress needs a worker.",
		},
		{
			Name: "CONCURRENT_PARSES", Default: 0, Check: count,
			Help: "How many callbacks may run at once. 0 is one for each CPU.",
		},
		{
			Name: "SCRAPER_SLOT_MAX_ACTIVE_SIZE", Default: int64(5_000_000), Check: func(v any) error {
				if v.(int64) == 0 {
					return want(wantSize + ", above zero")
				}
				return nil
			},
			Help: "Bytes of response bodies that may wait for or be in callbacks; no request starts while there are more.",
		},
		{
			Name: "SHUTDOWN_GRACE", Default: 8 * time.Second,
			Help: "How long what is on the wire may go on after the first interrupt. 0 cuts it at once.",
		},
	}
}
