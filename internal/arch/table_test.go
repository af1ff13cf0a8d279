package arch

// A row says what one package of the module may import of the module, and why
// it is as little as that.
type row struct {
	imports []string
	tests   []string // what its tests may import on top, next to testHelpers
	reason  string
}

// testHelpers may be imported by the tests of every package that they do not
// import themselves.
var testHelpers = []string{"crawltest", "internal/conformance", "internal/faultfs"}

// table has every package of the module. Imports go one way: down.
var table = map[string]row{
	"settings": {reason: "the table of settings stands alone: every component reads it, it knows none"},
	"jobs":     {reason: "the job directory knows files and bytes; what they mean is the scheduler's business"},

	"internal/weburl": {reason: "rules of URLs need nothing of a crawler"},
	"internal/cookie": {imports: []string{"internal/weburl"}, reason: "the rules of cookies need hosts and nothing of a crawler"},
	"internal/h1":     {reason: "how bytes become a response does not depend on who asked for it"},
	"internal/referrer": {
		imports: []string{"crawl", "settings", "internal/weburl"},
		reason:  "links and redirects get their Referer by the same rules, and their middlewares do not know each other",
	},
	"internal/robots":      {tests: []string{"internal/weburl"}, reason: "rules of robots.txt need nothing of a crawler"},
	"internal/faultfs":     {imports: []string{"jobs"}, reason: "a disk that fails implements the file system of jobs"},
	"internal/charset":     {reason: "letters and bytes need nothing of a crawler"},
	"internal/conformance": {reason: "it reads files of vectors; what they mean is up to the tests"},
	"internal/conformance/table": {
		imports: []string{"internal/conformance"},
		reason:  "it shows what the tests have written down",
	},
	"internal/arch": {reason: "it reads sources and imports none"},
	"internal/demo": {reason: "the site that is crawled knows nothing of the crawler"},
	"internal/docs": {
		tests:  []string{"settings", "engine/builtin", "internal/demo"},
		reason: "its tests compare the documentation with the program; the program does not know it",
	},

	"crawl": {
		imports: []string{"settings", "internal/charset", "internal/weburl"},
		reason:  "the vocabulary of spider authors must not drag the machinery along",
	},
	"crawltest": {
		imports: []string{"crawl"},
		reason:  "spider authors use it: it knows what they know",
	},

	"scheduler": {
		imports: []string{"crawl", "jobs", "settings", "internal/cookie", "internal/weburl"},
		tests:   []string{"scheduler/schedulertest"},
		reason:  "a frontier hands out requests; how they are downloaded is not its business, nor is what cookies are but for the rule by which changes of them fold",
	},
	"scheduler/schedulertest": {
		imports: []string{"scheduler", "crawl", "jobs", "settings"},
		reason:  "the contract is proved for any frontier, also those of others",
	},
	"downloader": {
		imports: []string{"crawl", "settings", "internal/h1", "internal/weburl"},
		reason:  "a downloader fetches what it is given; it knows no queue and no spider",
	},
	"downloader/middleware": {
		imports: []string{"crawl", "settings", "downloader", "downloader/httpcache", "internal/cookie", "internal/referrer", "internal/robots", "internal/weburl"},
		reason:  "middlewares wrap a fetcher and know nothing else of the engine",
	},
	"downloader/httpcache": {
		imports: []string{"crawl", "settings", "downloader", "internal/weburl"},
		tests:   []string{"downloader/httpcache/cachetest", "downloader/middleware"},
		reason:  "the cache is one middleware, with policies and storages that a program may replace",
	},
	"downloader/httpcache/cachetest": {
		imports: []string{"downloader/httpcache"},
		reason:  "the contract is proved for any storage, also those of others",
	},
	"spiders/middleware": {
		imports: []string{"crawl", "settings", "internal/referrer", "internal/weburl"},
		reason:  "middlewares wrap callbacks and know nothing else of the engine",
	},
	"spiders/site": {
		imports: []string{"crawl", "settings", "internal/weburl"},
		reason:  "a built-in spider has no more rights than a user's",
	},
	"spiders/quotes": {
		imports: []string{"crawl"},
		tests:   []string{"internal/demo"},
		reason:  "a built-in spider has no more rights than a user's",
	},
	"feeds": {
		imports: []string{"crawl", "jobs", "settings"},
		tests:   []string{"feeds/feedstest"},
		reason:  "feeds render items and implement the sinks of jobs",
	},
	"feeds/feedstest": {
		imports: []string{"feeds", "crawl", "jobs"},
		reason:  "the contracts are proved for any exporter and sink, also those of others",
	},
	"extensions": {
		imports: []string{"crawl", "settings"},
		reason:  "extensions hear signals and ask to close; they reach into nothing",
	},

	"engine": {
		imports: []string{
			"crawl", "settings", "jobs", "scheduler", "downloader", "downloader/middleware", "spiders/middleware",
			"feeds", "extensions", "internal/weburl",
		},
		tests:  []string{"engine/builtin", "spiders/site"},
		reason: "the engine assembles by name; implementations register themselves",
	},
	"engine/builtin": {
		imports: []string{
			"scheduler", "downloader", "downloader/middleware", "spiders/middleware", "spiders/site", "feeds", "extensions",
		},
		tests:  []string{"crawl", "engine", "settings"},
		reason: "the one place that names implementations; its tests crawl with all of them",
	},

	"cmd": {
		imports: []string{"engine", "engine/builtin", "crawl", "settings", "feeds", "jobs", "scheduler", "internal/demo", "spiders/quotes"},
		reason:  "the command line starts the engine, translates its errors and looks into jobs; it takes part in no crawl",
	},
	"cmd/crawl": {
		imports: []string{"cmd"},
		tests:   []string{"crawl", "jobs", "scheduler"}, // a spider that is killed, and its job
		reason:  "a user's own main has to be able to do all that ours does",
	},
	"examples/login": {
		imports: []string{"cmd", "crawl"},
		tests:   []string{"engine", "feeds", "settings"},
		reason:  "an example is a user's program",
	},
	"examples/api": {
		imports: []string{"cmd", "crawl"},
		tests:   []string{"engine", "feeds", "settings"},
		reason:  "an example is a user's program",
	},
	"examples/broad": {
		imports: []string{"cmd", "crawl"},
		tests:   []string{"engine", "feeds", "settings"},
		reason:  "an example is a user's program",
	},
}

// A guard says who may import a package of others.
type guard struct {
	path   string // and all below it
	users  []string
	tests  bool // whether tests anywhere may
	reason string
}

var guards = []guard{
	{path: "github.com/spf13/cobra", users: []string{"cmd"}, reason: "flags are the command line's business"},
	{path: "github.com/spf13/pflag", users: []string{"cmd"}, reason: "flags are the command line's business"},
	{path: "github.com/spf13/viper", users: []string{"settings"}, reason: "its getters turn what they cannot read into zero: only settings knows how to use it"},
	{path: "os/signal", users: []string{"cmd"}, tests: true, reason: "a library must leave the signals to its program"},
	{path: "github.com/PuerkitoBio/goquery", users: []string{"crawl"}, reason: "the parser stays behind one function, so that a faster one can replace it"},
	{path: "github.com/nlnwa/whatwg-url", users: []string{"internal/weburl"}, reason: "it is slow; internal/weburl has the fast path"},
	{path: "github.com/rs/zerolog/log", reason: "a global logger is state that nobody passes on"},
	{path: "log", users: []string{"cmd"}, reason: "the log is the zerolog.Logger of the crawl; cmd takes over what Go's packages write", tests: true},
	{path: "log/slog", reason: "the log is the zerolog.Logger of the crawl"},
	{path: "unsafe", users: []string{"scheduler"}, reason: "nothing is worth more than to ask for a size"},
	{path: "plugin", reason: "components are compiled in; no code is loaded at run time"},
	{path: "encoding/gob", reason: "what is stored is JSON or documented bytes; no stored type decides what code runs"},
	{path: "github.com/rogpeppe/go-internal", tests: true, reason: "it is a test tool"},
	{path: "go.uber.org/goleak", tests: true, reason: "it is a test tool"},
	{path: "testing", users: []string{"crawltest", "internal/conformance", "scheduler/schedulertest", "feeds/feedstest", "downloader/httpcache/cachetest"}, tests: true, reason: "the program must not carry the test framework"},
}

// surroundings are what of package os only cmd may touch, and why.
var surroundings = map[string]string{
	"Exit":      "ending the process takes the job and the feeds down with it",
	"Stdin":     "the standard streams are handed over by cmd",
	"Stdout":    "the standard streams are handed over by cmd",
	"Stderr":    "the log goes to the logger",
	"Args":      "arguments are parsed in one place",
	"Getenv":    "the environment is a layer of the settings",
	"LookupEnv": "the environment is a layer of the settings",
	"Environ":   "the environment is a layer of the settings",
}

// vague are names of packages that say nothing.
var vague = []string{"pkg", "util", "utils", "common", "types", "core", "helper", "helpers", "misc", "shared", "base"}
