package downloader

import (
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/settings"
)

// SlotsConfig is what the slots take from the settings.
type SlotsConfig struct {
	// Concurrency is how many requests of a slot may be active at once.
	Concurrency int `setting:"CONCURRENT_REQUESTS_PER_DOMAIN"`

	// Delay is the least time between the beginnings of two requests. 0 is none.
	Delay time.Duration `setting:"DOWNLOAD_DELAY"`

	// Randomize draws each delay from 0.5 to 1.5 times Delay.
	Randomize bool `setting:"RANDOMIZE_DOWNLOAD_DELAY"`

	// Slots gives single slots other values, by name, or by *.example.com for each
	// slot below example.com: the name goes first, then the longest pattern. The
	// values are maps with the keys concurrency (an int), delay (what
	// [settings.Duration] reads), randomize_delay and throttle (bools; false keeps
	// AutoThrottle away); what is missing is as for every slot.
	Slots map[string]any `setting:"DOWNLOAD_SLOTS"`

	// AutoThrottle adapts the delays to the latency of the servers, never below
	// the Delay of the slot.
	AutoThrottle bool `setting:"AUTOTHROTTLE_ENABLED"`

	// StartDelay is the delay of a slot at first, unless Slots or Delay want a
	// longer one or Slots another one.
	StartDelay time.Duration `setting:"AUTOTHROTTLE_START_DELAY"`

	// MaxDelay is the longest delay that AutoThrottle sets.
	MaxDelay time.Duration `setting:"AUTOTHROTTLE_MAX_DELAY"`

	// Target is how many requests AutoThrottle wants to be in progress at each
	// server, on average. It is above zero.
	Target float64 `setting:"AUTOTHROTTLE_TARGET_CONCURRENCY"`

	// Obey says that robots.txt is read, so that SlowDown is called, and CrawlDelay that the slots keep the
	// delay that it asks for, if it is "enforce", of MaxCrawlDelay at most.
	Obey          bool          `setting:"ROBOTSTXT_OBEY"`
	CrawlDelay    string        `setting:"ROBOTSTXT_CRAWL_DELAY"`
	MaxCrawlDelay time.Duration `setting:"ROBOTSTXT_MAX_CRAWL_DELAY"`

	// Debug logs a line for each response that AutoThrottle looks at.
	Debug bool `setting:"AUTOTHROTTLE_DEBUG"`

	// Log takes these lines. The zero value is silent.
	Log zerolog.Logger
}

// enforces reports whether the delays of robots.txt count.
func (c *SlotsConfig) enforces() bool { return c.Obey && c.CrawlDelay == "enforce" }

// slotParams are the limits of a slot.
type slotParams struct {
	concurrency int
	delay       time.Duration
	ownDelay    bool // it is of DOWNLOAD_SLOTS
	randomize   bool
	throttle    bool
}

// A slotTable finds the limits of a slot.
type slotTable struct {
	all      slotParams
	names    map[string]*slotParams
	suffixes map[string]*slotParams // by the domain of their pattern
}

func newSlotTable(cfg SlotsConfig) slotTable {
	t := slotTable{
		all:   slotParams{concurrency: max(cfg.Concurrency, 1), delay: cfg.Delay, randomize: cfg.Randomize, throttle: true},
		names: map[string]*slotParams{}, suffixes: map[string]*slotParams{},
	}
	for name, v := range cfg.Slots {
		if domain, ok := strings.CutPrefix(name, "*."); ok {
			t.suffixes[slotName(domain)] = t.all.with(v)
		} else {
			t.names[slotName(name)] = t.all.with(v)
		}
	}
	for name, v := range cfg.Slots { // a slot that is no host has its name as it is
		t.names[name] = t.all.with(v)
	}
	return t
}

// slotName returns the name of the slot of a host, which is written in many ways.
func slotName(name string) string {
	if host := SlotKey("http://" + name + "/"); host != "" {
		return host
	}
	return name
}

// with returns p with what an entry of DOWNLOAD_SLOTS changes.
func (p slotParams) with(v any) *slotParams {
	m, _ := v.(map[string]any)
	if n, ok := m["concurrency"].(int); ok {
		p.concurrency = max(n, 1)
	}
	if d, err := settings.Duration(m["delay"]); err == nil {
		p.delay, p.ownDelay = min(d, maxDelay), true
	}
	if b, ok := m["randomize_delay"].(bool); ok {
		p.randomize = b
	}
	if b, ok := m["throttle"].(bool); ok {
		p.throttle = b
	}
	return &p
}

// find returns the limits of a slot.
func (t *slotTable) find(key string) *slotParams {
	if p := t.names[key]; p != nil {
		return p
	}
	return t.below(key)
}

// below returns the limits of the slots below a domain, for one that has no name of
// its own.
func (t *slotTable) below(key string) *slotParams {
	for rest := key; len(t.suffixes) > 0; {
		var ok bool
		if _, rest, ok = strings.Cut(rest, "."); !ok {
			break
		}
		if p := t.suffixes[rest]; p != nil {
			return p
		}
	}
	return &t.all
}
