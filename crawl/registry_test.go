package crawl_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// panics returns what f panics with, as text.
func panics(t *testing.T, f func()) string {
	t.Helper()
	err := crawl.Guard(func() error { f(); return nil })
	if err == nil {
		t.Fatal("no panic")
	}
	return err.Error()
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	g := crawl.NewRegistry[int]("queue")
	g.Register("lifo", 1)
	g.Register("fifo", 2)
	g.Alias("scrapy.squeues.PickleFifoDiskQueue", "fifo")
	for name, want := range map[string]int{"lifo": 1, "fifo": 2, "scrapy.squeues.PickleFifoDiskQueue": 2} {
		if got, err := g.Lookup(name); got != want || err != nil {
			t.Errorf("Lookup(%s) = %d, %v, want %d", name, got, err, want)
		}
	}
	for alias, want := range map[string]string{"fifo": "fifo", "scrapy.squeues.PickleFifoDiskQueue": "fifo", "fifi": "fifi"} {
		if got := g.Name(alias); got != want {
			t.Errorf("Name(%s) = %s, want %s", alias, got, want)
		}
	}
	if got, want := slices.Collect(g.Names()), []string{"fifo", "lifo"}; !slices.Equal(got, want) {
		t.Errorf("Names = %q, want %q", got, want)
	}
	_, err := g.Lookup("fifi")
	if want := `there is no queue "fifi" (this binary has fifo, lifo; did you mean "fifo"?)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for what, f := range map[string]func(){
		"Register, a name":   func() { g.Register("lifo", 3) },
		"Register, an alias": func() { g.Register("scrapy.squeues.PickleFifoDiskQueue", 3) },
		"Alias, a name":      func() { g.Alias("lifo", "fifo") },
		"Alias, an alias":    func() { g.Alias("scrapy.squeues.PickleFifoDiskQueue", "lifo") },
	} {
		if got := panics(t, f); !strings.Contains(got, "queue") || !strings.Contains(got, "already registered") {
			t.Errorf("%s: got %q, want it to be registered already", what, got)
		}
	}
}

// A name that is registered is a good value of the settings of its registry, and
// the error of a constructor names both.
func TestRegistryOffersItsNames(t *testing.T) {
	t.Parallel()
	build := func(name string) (*settings.Settings, error) {
		s, _, err := settings.New().Assign("STATS_CLASS=" + name).Build()
		return s, err
	}
	name := fmt.Sprintf("test-stats-%d", run.Add(1)) // names stay registered
	if _, err := build(name); err == nil {
		t.Errorf("%s is good before it is registered", name)
	}
	crawl.StatsCollectors.Register(name, func(*crawl.Env) (crawl.StatsCollector, error) { return nil, errors.New("no disk") })
	s, err := build(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = crawl.Construct(&crawl.Env{Settings: s}, "STATS_CLASS", crawl.StatsCollectors, name)
	if want := "STATS_CLASS " + name + ": no disk"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = crawl.Construct(&crawl.Env{Settings: s}, "STATS_CLASS", crawl.StatsCollectors, "nobody")
	if want := `STATS_CLASS: there is no stats collector "nobody" (this binary has dummy, memory`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}

// run makes names of the runs of a test different.
var run atomic.Int64

func TestSpecs(t *testing.T) {
	t.Parallel()
	newSpider := func() crawl.Spider { return newShop(1) }
	prefix := fmt.Sprintf("test%d", run.Add(1)) // specs stay registered
	crawl.Register(crawl.Spec{Name: prefix + "-b", New: newSpider})
	crawl.Register(crawl.Spec{Name: prefix + "-a", Doc: "a", New: newSpider})
	var names []string
	for s := range crawl.Specs() {
		names = append(names, s.Name)
	}
	if !slices.IsSorted(names) || !slices.Contains(names, prefix+"-a") || !slices.Contains(names, prefix+"-b") {
		t.Errorf("Specs has %q, want test-a and test-b in order", names)
	}
	if s, err := crawl.FindSpec(prefix + "-a"); s.Doc != "a" || err != nil {
		t.Errorf("FindSpec = %+v, %v, want test-a", s, err)
	}
	_, err := crawl.FindSpec(prefix + "-aa")
	var unknown *crawl.UnknownSpiderError
	if !errors.As(err, &unknown) || unknown.Nearest != prefix+"-a" || !strings.Contains(err.Error(), `did you mean "`+prefix+`-a"?`) {
		t.Errorf("got %v, want an UnknownSpiderError near test-a", err)
	}
	for want, spec := range map[string]crawl.Spec{
		"has no name":        {New: newSpider},
		"has no New":         {Name: prefix + "-c"},
		"already registered": {Name: prefix + "-a", New: newSpider},
	} {
		if got := panics(t, func() { crawl.Register(spec) }); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
