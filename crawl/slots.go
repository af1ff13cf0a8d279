package crawl

import "time"

// Slots are the downloader slots of a crawl, most often one a host. Its methods are
// safe for concurrent use, from when components are built to the end of the crawl.
type Slots interface {
	// List returns the slots in use, by name: those with a request that is queued or
	// in progress, and those whose delay or back-off is not over. It takes time for
	// each of them, as nothing else of a crawl does: a few times a second is often
	// enough.
	List() []SlotStatus

	// Change sets limits of a slot, or with *.example.com those of each slot below
	// example.com that has none of its own by name or by a longer pattern, as an entry
	// of DOWNLOAD_SLOTS does. It counts at once, also for the delay that runs, and for
	// slots that come into use later. Requests in progress go on. It lasts until the
	// end of the run. An error says what is wrong with the change; then nothing is
	// changed.
	Change(name string, c SlotChange) error
}

// SlotStatus is a downloader slot at one moment.
type SlotStatus struct {
	Name string

	// Concurrency is how many requests may be in progress at once.
	Concurrency int

	// Delay is the least time between the beginnings of two requests as of now: that
	// of the settings, or what AutoThrottle has made of it. CrawlDelay is what
	// robots.txt asks for, where that is enforced; the longer one counts.
	Delay, CrawlDelay time.Duration

	// Randomize tells that each delay is drawn from 0.5 to 1.5 times Delay.
	Randomize bool

	// Active is the number of requests in progress, and Queued that of those which
	// wait in the scheduler. A scheduler of your own is not asked: of its requests
	// those count that it has handed out.
	Active, Queued int

	// BackOff is when the server wants the next request (Retry-After). Zero if it
	// does not wait.
	BackOff time.Time
}

// A SlotChange sets limits of a slot. What is zero or nil stays as it is.
type SlotChange struct {
	// Concurrency is how many requests may be in progress at once, at least 1.
	Concurrency int

	// Delay is the least time between the beginnings of two requests. AutoThrottle
	// goes on from there, and not below it.
	Delay *time.Duration

	// Randomize draws each delay from 0.5 to 1.5 times Delay.
	Randomize *bool
}
