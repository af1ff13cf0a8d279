package crawl

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skeincrawl/skein/settings"
)

// A Registry holds the implementations of one kind of component by name. F is
// the type of their constructors. It is safe for concurrent use.
type Registry[F any] struct {
	kind     string
	settings []string
	mu       sync.RWMutex
	byName   map[string]F
	aliases  map[string]string
}

// NewRegistry returns an empty registry. Kind is what messages call its
// members, such as "scheduler".
func NewRegistry[F any](kind string) *Registry[F] {
	return &Registry[F]{kind: kind, byName: map[string]F{}, aliases: map[string]string{}}
}

// For makes every name that is registered from now on a good value of these
// settings, which are [settings.Def.Open]: Register is all that a component
// needs. It returns g and is called once, where g is made.
func (g *Registry[F]) For(settings ...string) *Registry[F] {
	g.settings = settings
	return g
}

// Register adds an implementation. It is called from init functions and panics
// if the name is taken.
func (g *Registry[F]) Register(name string, f F) {
	g.add(name, f)
	for _, setting := range g.settings {
		settings.Default().Offer(setting, name)
	}
}

func (g *Registry[F]) add(name string, f F) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, dup := g.byName[name]; dup || g.aliases[name] != "" {
		panic(fmt.Sprintf("crawl: %s %q is already registered", g.kind, name))
	}
	g.byName[name] = f
}

// Alias lets an implementation answer to another name too, such as a class path
// of Scrapy. It panics if the alias is taken.
func (g *Registry[F]) Alias(alias, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, dup := g.byName[alias]; dup || g.aliases[alias] != "" {
		panic(fmt.Sprintf("crawl: %s %q is already registered", g.kind, alias))
	}
	g.aliases[alias] = name
}

// Name returns the name that an alias stands for, and what is no alias as it is.
func (g *Registry[F]) Name(alias string) string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.name(alias)
}

func (g *Registry[F]) name(alias string) string {
	if name, ok := g.aliases[alias]; ok {
		return name
	}
	return alias
}

// Lookup finds an implementation by its name or alias. The error lists the
// names there are.
func (g *Registry[F]) Lookup(name string) (F, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	name = g.name(name)
	f, ok := g.byName[name]
	if ok {
		return f, nil
	}
	names := slices.Sorted(maps.Keys(g.byName))
	hint := ""
	if near := settings.Nearest(name, slices.Values(names)); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return f, fmt.Errorf("there is no %s %q (this binary has %s%s)", g.kind, name, strings.Join(names, ", "), hint)
}

// Names yields the registered names in order, without aliases.
func (g *Registry[F]) Names() iter.Seq[string] {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Values(slices.Sorted(maps.Keys(g.byName)))
}

// Construct makes the component of a name that a setting has. The error names
// both, but for a [settings.Error] of the component, which others may find too.
func Construct[T any](env *Env, setting string, g *Registry[func(*Env) (T, error)], name string) (v T, err error) {
	f, err := g.Lookup(name)
	if err != nil {
		return v, fmt.Errorf("%s: %w", setting, err)
	}
	v, err = f(env)
	if errors.As(err, new(*settings.Error)) {
		return v, err
	}
	if err != nil {
		return v, fmt.Errorf("%s %s: %w", setting, name, err)
	}
	return v, nil
}
