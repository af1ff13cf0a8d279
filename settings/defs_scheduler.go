package settings

import "time"

func schedulerDefs() []Def {
	return []Def{
		{
			Name: "SCHEDULER", Default: "default", Choices: []string{"default"}, Open: true,
			Aliases: map[string]string{"scrapy.core.scheduler.Scheduler": "default"},
			Help:    "Name of the scheduler. A program may register its own.",
		},
		{
			Name: "SCHEDULER_PRIORITY_QUEUE", Default: "downloader-aware", Choices: []string{"downloader-aware", "priority"}, Open: true,
			Aliases: map[string]string{
				"scrapy.pqueues.DownloaderAwarePriorityQueue": "downloader-aware",
				"scrapy.pqueues.ScrapyPriorityQueue":          "priority",
			},
			Help: "How the next request is picked: downloader-aware takes the domain with the fewest requests in progress, priority the best request of all domains.",
		},
		queueDef("SCHEDULER_DISK_QUEUE", "lifo", diskQueues(), "Order of equal priorities in the queue on disk: lifo takes the newest request first, fifo the oldest."),
		queueDef("SCHEDULER_MEMORY_QUEUE", "lifo", memoryQueues(), "Order of equal priorities in the queue in memory: lifo takes the newest request first, fifo the oldest."),
		queueDef("SCHEDULER_START_DISK_QUEUE", "fifo", diskQueues(), "The same for start requests on disk. None lets them share the ordinary queue.", ""),
		queueDef("SCHEDULER_START_MEMORY_QUEUE", "fifo", memoryQueues(), "The same for start requests in memory. None lets them share the ordinary queue.", ""),
		{
			Name: "SCHEDULER_DEBUG", Default: false,
			Help: "Whether to log the first request that cannot be kept on disk.",
		},
		{
			Name: "SCHEDULER_MAX_PENDING", Default: 0, Check: count, ZeroIsOff: true,
			Help: "How many requests may be queued before the start requests wait. 0 is no limit.",
		},
		{
			Name: "DUPEFILTER_CLASS", Default: "fingerprint", Choices: []string{"fingerprint", "none"}, Open: true,
			Aliases: map[string]string{
				"scrapy.dupefilters.RFPDupeFilter":  "fingerprint",
				"scrapy.dupefilters.BaseDupeFilter": "none",
			},
			Help: "Which requests count as duplicates: fingerprint those with the same fingerprint, none lets all pass.",
		},
		{
			Name: "REQUEST_FINGERPRINTER_CLASS", Default: "sha1", Choices: []string{"sha1"}, Open: true,
			Aliases: map[string]string{"scrapy.utils.request.RequestFingerprinter": "sha1"},
			Help:    "What the fingerprint of a request is made of: sha1 takes method, URL and body, as Scrapy does.",
		},
		{
			Name: "DUPEFILTER_DEBUG", Default: false,
			Help: "Whether to log every duplicate and not only the first, at the level DEBUG.",
		},
	}
}

func queueDef(name, order string, aliases map[string]string, help string, more ...string) Def {
	return Def{Name: name, Default: order, Choices: append([]string{"lifo", "fifo"}, more...), Open: true, Aliases: aliases, Help: help}
}

func diskQueues() map[string]string {
	return map[string]string{
		"scrapy.squeues.PickleLifoDiskQueue":  "lifo",
		"scrapy.squeues.PickleFifoDiskQueue":  "fifo",
		"scrapy.squeues.MarshalLifoDiskQueue": "lifo",
		"scrapy.squeues.MarshalFifoDiskQueue": "fifo",
	}
}

func memoryQueues() map[string]string {
	return map[string]string{
		"scrapy.squeues.LifoMemoryQueue": "lifo",
		"scrapy.squeues.FifoMemoryQueue": "fifo",
	}
}

func jobDefs() []Def {
	return []Def{
		{
			Name: "JOBDIR", Default: "", Check: jobDir,
			Help: "Directory that keeps the crawl, so that the same command goes on where it stopped. %(name)s in it is the name of the spider, %% a percent sign. None keeps nothing.",
		},
		{
			Name: "JOB_WHEN_FINISHED", Default: "again", Choices: []string{"again", "fresh", "stop"},
			Help: "What a run does with a job that is finished: again starts a new round that skips what was seen, fresh forgets it first, stop ends at once.",
		},
		{
			Name: "JOB_SYNC_INTERVAL", Default: 100 * time.Millisecond,
			Help: "How often the job is synced to the disk, which bounds what a power cut undoes. 0 syncs every step.",
		},
		{
			Name: "JOB_MAX_DISK", Default: int64(0), ZeroIsOff: true,
			Help: "How much of the disk the queue of a job may take, in bytes or as 2GiB. Above it the crawl stops in good order, with the reason job_max_disk. 0 is no limit.",
		},
	}
}
