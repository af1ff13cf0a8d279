package settings

import "time"

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
			Name: "LOGSTATS_INTERVAL", Default: 60 * time.Second, ZeroIsOff: true,
			Help: "Time between two progress lines in the log, in seconds or as 1m. 0 is none.",
		},
		{Name: "STATS_DUMP", Default: true, Help: "Whether the statistics are logged at the end."},
	}
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
	}
}

func limitDef(name, help string) Def {
	return Def{Name: name, Default: 0, Check: count, ZeroIsOff: true, Help: help}
}
