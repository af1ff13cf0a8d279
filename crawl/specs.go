package crawl

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skeincrawl/skein/settings"
)

var (
	specMu sync.RWMutex        //nolint:gochecknoglobals // a registry.
	specs  = map[string]Spec{} //nolint:gochecknoglobals // a registry.
)

// Register adds a spider to the binary. It panics if the name is empty or taken
// or New is missing: it is meant to be called from an init function.
func Register(s Spec) {
	specMu.Lock()
	defer specMu.Unlock()
	switch _, dup := specs[s.Name]; {
	case s.Name == "":
		panic("crawl: a spider has no name")
	case s.New == nil:
		panic(fmt.Sprintf("crawl: spider %q has no New", s.Name))
	case dup:
		panic(fmt.Sprintf("crawl: spider %q is already registered", s.Name))
	}
	specs[s.Name] = s
}

// Specs yields the registered spiders in the order of their names.
func Specs() iter.Seq[Spec] {
	specMu.RLock()
	defer specMu.RUnlock()
	all := slices.Collect(maps.Values(specs))
	slices.SortFunc(all, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	return slices.Values(all)
}

// An UnknownSpiderError names a spider that the binary does not have.
type UnknownSpiderError struct {
	Name    string
	Nearest string // "" if none is near
}

// Error says what would be right.
func (e *UnknownSpiderError) Error() string {
	msg := fmt.Sprintf("there is no spider %q", e.Name)
	if e.Nearest != "" {
		msg += fmt.Sprintf(", did you mean %q?", e.Nearest)
	}
	return msg + " (crawl list shows all)"
}

// FindSpec returns a registered spider, or an [UnknownSpiderError].
func FindSpec(name string) (Spec, error) {
	specMu.RLock()
	defer specMu.RUnlock()
	if s, ok := specs[name]; ok {
		return s, nil
	}
	return Spec{}, &UnknownSpiderError{Name: name, Nearest: settings.Nearest(name, maps.Keys(specs))}
}
