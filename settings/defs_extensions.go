package settings

import (
	"strings"
	"time"
)

func levelDef(name, level, help string) Def {
	return Def{
		Name: name, Default: level, Help: help,
		Choices: []string{"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"},
		Aliases: map[string]string{ // Python's numbers and other names
			"10": "DEBUG", "20": "INFO", "30": "WARNING", "40": "ERROR", "50": "CRITICAL",
			"WARN": "WARNING", "FATAL": "CRITICAL",
		},
	}
}

func logDefs() []Def {
	return []Def{
		{Name: "LOG_ENABLED", Default: true, Help: "Whether there is a log."},
		levelDef("LOG_LEVEL", "INFO", "Least level of the lines in the log."),
		{
			Name: "LOG_FILE", Default: "", Check: logFile,
			Help: "File that the log goes to. None is standard error.",
		},
		{
			Name: "LOG_FILE_APPEND", Default: true,
			Help: "Whether the log goes to the end of LOG_FILE; else each run starts the file anew.",
		},
		{
			Name: "LOG_FORMAT", Default: "text", Choices: []string{"text", "json"},
			Aliases: map[string]string{"%(asctime)s [%(name)s] %(levelname)s: %(message)s": "text"},
			Help:    "Form of the log: text is Scrapy's lines, json one object a line. Format strings of Python are not known.",
		},
		{
			Name: "LOGSTATS_INTERVAL", Default: 60 * time.Second, ZeroIsOff: true,
			Help: "Time between two progress lines in the log, in seconds or as 1m. 0 is none.",
		},
		{
			Name: "STATS_CLASS", Default: "memory", Choices: []string{"memory", "dummy"}, Open: true,
			Aliases: map[string]string{
				"scrapy.statscollectors.MemoryStatsCollector": "memory",
				"scrapy.statscollectors.DummyStatsCollector":  "dummy",
			},
			Help: "Who takes the statistics at the end: memory keeps them for the log only, dummy keeps none.",
		},
		{Name: "STATS_DUMP", Default: true, Help: "Whether the statistics are logged at the end."},
	}
}

func logFile(v any) error {
	if strings.ContainsRune(v.(string), 0) {
		return want("the path of a file")
	}
	return nil
}

func closeDefs() []Def {
	return []Def{
		limitDef("CLOSESPIDER_PAGECOUNT", "Number of responses after which the crawl ends. 0 is no limit."),
		limitDef("CLOSESPIDER_ITEMCOUNT", "Number of items after which the crawl ends. 0 is no limit."),
		limitDef("CLOSESPIDER_ERRORCOUNT", "Number of errors in callbacks after which the crawl ends. 0 is no limit."),
		{
			Name: "CLOSESPIDER_TIMEOUT", Default: time.Duration(0), ZeroIsOff: true,
			Help: "Time after which the crawl ends, in seconds or as 1h. 0 is no limit.",
		},
		limitDef("CLOSESPIDER_PAGECOUNT_NO_ITEM", "Number of responses in a row without an item after which the crawl ends. 0 is no limit."),
		{
			Name: "CLOSESPIDER_TIMEOUT_NO_ITEM", Default: time.Duration(0), ZeroIsOff: true,
			Help: "Time without an item after which the crawl ends, in seconds or as 5m. 0 is no limit.",
		},
	}
}

func limitDef(name, help string) Def {
	return Def{Name: name, Default: 0, Check: count, ZeroIsOff: true, Help: help}
}
