package settings

import "time"

func feedDefs() []Def {
	return []Def{
		{
			Name: "FEEDS", Default: map[string]any{},
			Help: "Feeds that the items go to: a JSON object from a path or URI to the options encoding, fields, format, indent, overwrite and store_empty.",
		},
		{
			Name: "FEED_EXPORT_ENCODING", Default: "utf-8", Choices: []string{"utf-8"}, Aliases: map[string]string{"UTF8": "utf-8"},
			Help: "Encoding of feeds.",
		},
		{
			Name: "FEED_EXPORT_FIELDS", Default: []string{}, Titles: true,
			Help: "Fields that feeds show, in this order, each as its name or as name=title. None is all.",
		},
		{
			Name: "FEED_EXPORT_INDENT", Default: "0", Choices: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", ""}, Aliases: map[string]string{"-1": "0"},
			Help: "Spaces for each level of a JSON feed. 0 is one item a line, None a feed without line feeds.",
		},
		{
			Name: "FEED_STORE_EMPTY", Default: true,
			Help: "Whether a feed without items leaves a file.",
		},
	}
}

func memoryDefs() []Def {
	return []Def{
		{
			Name: "MEMUSAGE_ENABLED", Default: true,
			Help: "Whether the memory of the process is watched.",
		},
		{
			Name: "MEMUSAGE_CHECK_INTERVAL_SECONDS", Default: 60 * time.Second, Check: aboveZero,
			Help: "Time between two looks at the memory, in seconds or as 1m.",
		},
		limitDef("MEMUSAGE_LIMIT_MB", "Memory in MiB above which the crawl ends. 0 is no limit."),
		limitDef("MEMUSAGE_WARNING_MB", "Memory in MiB above which a warning is logged, once. 0 is never."),
	}
}
