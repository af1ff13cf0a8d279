package settings

import "slices"

// unsupportedDefs are the settings of Scrapy that this version does not have,
// with Scrapy's defaults. A default that is None in Scrapy is an empty string.
func unsupportedDefs() []Def {
	return slices.Concat(
		unsupportedPython(), unsupportedCommands(), unsupportedEngine(), unsupportedDownloader(),
		unsupportedTLS(), unsupportedMiddleware(), unsupportedCache(), unsupportedExtensions(),
		unsupportedLog(), unsupportedFeeds(), unsupportedMedia(), unsupportedClouds(),
	)
}

// unsupported completes definitions that share a reason.
func unsupported(reason string, defs ...Def) []Def {
	for i := range defs {
		defs[i].Status, defs[i].Reason = Unsupported, reason
	}
	return defs
}

// known is a setting with Scrapy's default and the values that describe what
// this version does anyway.
func known(name string, def any, off ...any) Def { return Def{Name: name, Default: def, Off: off} }

func secret(name string, def any) Def { return Def{Name: name, Default: def, Secret: true} }

func unsupportedPython() []Def {
	const resolver = "scrapy.resolver.CachingThreadedResolver"
	return slices.Concat(
		unsupported(
			"there is no Python event loop to choose",
			known("ASYNCIO_EVENT_LOOP", ""),
			known("FORCE_CRAWLER_PROCESS", false),
			known("TWISTED_REACTOR", "twisted.internet.asyncioreactor.AsyncioSelectorReactor"),
			known("TWISTED_REACTOR_ENABLED", true, false),
		),
		unsupported("goroutines need no thread pool", known("REACTOR_THREADPOOL_MAXSIZE", 10)),
		unsupported(
			"names are resolved by Go's resolver",
			known("DNS_RESOLVER", resolver), known("TWISTED_DNS_RESOLVER", resolver),
		),
		unsupported("callbacks in Go cannot make that mistake", known("WARN_ON_GENERATOR_RETURN_VALUE", true, false)),
		unsupported(
			"spiders are compiled in and register themselves",
			known("NEWSPIDER_MODULE", ""),
			known("SPIDER_LOADER_CLASS", "scrapy.spiderloader.SpiderLoader"),
			known("SPIDER_LOADER_WARN_ONLY", false),
			known("SPIDER_MODULES", []string{}),
		),
		unsupported("there are no add-ons; a Go package registers its components itself", known("ADDONS", map[string]int{})),
		unsupported("Scrapy deprecates it; the rules of a spider say what to follow", known("CRAWLSPIDER_FOLLOW_LINKS", true)),
	)
}

func unsupportedCommands() []Def {
	return slices.Concat(
		unsupported("commands cannot be added by a setting", known("COMMANDS_MODULE", "")),
		unsupported("there is no edit command", known("EDITOR", "vi")),
		unsupported("there are no template directories", known("TEMPLATES_DIR", "")),
		unsupported("items have no fixed class", known("DEFAULT_ITEM_CLASS", "scrapy.item.Item")),
		unsupported(
			"there are no contracts; test spiders with go test",
			known("SPIDER_CONTRACTS", map[string]int{}), known("SPIDER_CONTRACTS_BASE", map[string]int{}),
		),
	)
}

func unsupportedEngine() []Def {
	return slices.Concat(
		unsupported("what one callback emits is handled in order, not in parallel", known("CONCURRENT_ITEMS", 100)),
		unsupported(
			"this version has no item pipelines",
			known("ITEM_PIPELINES", map[string]int{}),
			known("ITEM_PIPELINES_BASE", map[string]int{}),
			known("ITEM_PROCESSOR", "scrapy.pipelines.ItemPipelineManager"),
		),
		unsupported("the level of the line about a dropped item is fixed", known("DEFAULT_DROPITEM_LOG_LEVEL", "WARNING")),
		unsupported(
			"this part cannot be replaced by a setting",
			known("DOWNLOADER", "scrapy.core.downloader.Downloader"),
		),
	)
}

func unsupportedDownloader() []Def {
	return unsupported("HTTP/2 has no settings", known("HTTP2_MAX_FRAME_SIZE", 16384), known("HTTPX_HTTP2_ENABLED", false))
}

func unsupportedTLS() []Def {
	return unsupported("there is no factory of TLS contexts; DOWNLOAD_TLS_… say what is wanted", known("DOWNLOADER_CLIENTCONTEXTFACTORY", "SENTINEL"))
}
