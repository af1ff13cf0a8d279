// Package settings holds the typed, layered and validated settings of a crawl
// under the names that Scrapy gave them.
//
// A value comes from the highest layer that sets it. The layers are, lowest
// first:
//
//  1. the default, from the table of settings;
//  2. the config file, crawl.yaml, crawl.yml, crawl.toml or crawl.json;
//  3. the spider;
//  4. the environment, where JOBDIR is the variable CRAWL_JOBDIR;
//  5. the command line, -s JOBDIR=crawls/x.
//
// A [Builder] collects the layers. [Builder.Build] reports every bad value at
// once, each with its source, and otherwise returns an immutable [Settings]:
//
//	s, warnings, err := settings.New().
//		File("crawl.yaml").
//		Spider("quotes", spec.Settings).
//		Environ(os.Environ()).
//		Assign("DOWNLOAD_DELAY=250ms").
//		Build()
//
// Components read their part of it into a struct of their own with [Decode].
// A component with settings of its own adds them with [Declare], in an init
// function, and they then work in every layer like the built-in ones.
//
// The Go type of a setting is the type of its default: a time.Duration is
// written as seconds (0.25) or as a Go duration (250ms), an int64 is a size in
// bytes (1048576 or 1MiB), a map[string]int maps the names of components to
// their order. Scrapy's spellings work too: True and False, None, and the
// class paths of the components that exist here.
//
// A setting of Scrapy that this version does not have is known together with
// the reason, so that it is refused with a sentence, not ignored.
package settings
