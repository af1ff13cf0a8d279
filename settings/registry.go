package settings

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"
)

// A Registry is the table of the settings that exist. It is safe for
// concurrent use. Programs use the one that [Default] returns; a registry of
// its own isolates a test.
type Registry struct {
	mu   sync.RWMutex
	defs map[string]*Def
}

// NewRegistry returns a registry with the built-in settings.
func NewRegistry() *Registry {
	r := &Registry{defs: map[string]*Def{}}
	for _, d := range builtin() {
		r.Declare(d)
	}
	return r
}

// Default returns the registry of the program.
func Default() *Registry { return program() }

var program = sync.OnceValue(NewRegistry) //nolint:gochecknoglobals // a registry

// Declare adds a setting to the registry of the program, for a component that
// has settings of its own. Call it in an init function: a setting has to be
// declared before [Builder.Build] meets its name. It panics on a name that is
// declared already and on a definition that is incomplete or refuses its own
// default.
func Declare(d Def) { Default().Declare(d) }

// Declare adds a setting, as the function [Declare] does. A component may
// declare a name that was known but unsupported: it is supported then.
func (r *Registry) Declare(d Def) {
	if err := d.validate(); err != nil {
		panic(fmt.Sprintf("settings: declare %s: %v", d.Name, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.defs[d.Name]; ok && (old.Status == Supported || d.Status == Unsupported) {
		panic("settings: " + d.Name + " is declared twice")
	}
	d = d.copied()
	r.defs[d.Name] = &d
}

// Offer makes more names good values of a setting that is [Def.Open], for a
// component that registers itself as one more scheduler, queue or filter. A
// name that is one already stays one. It panics if no such setting is declared.
func (r *Registry) Offer(setting string, names ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, ok := r.defs[setting]
	if !ok || !old.Open {
		panic("settings: " + setting + " has no choices to add to")
	}
	d := *old // builders may be reading the old one
	d.Choices = slices.Clone(old.Choices)
	for _, name := range names {
		if !slices.Contains(d.Choices, name) {
			d.Choices = append(d.Choices, name)
		}
	}
	r.defs[setting] = &d
}

// Defs yields a copy of every definition in name order, the unsupported ones
// too.
func (r *Registry) Defs() iter.Seq[Def] {
	return func(yield func(Def) bool) {
		defs := r.snapshot()
		for _, name := range slices.Sorted(maps.Keys(defs)) {
			if !yield(defs[name].copied()) {
				return
			}
		}
	}
}

func (r *Registry) snapshot() map[string]*Def {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.defs)
}

// builtin is the table: one list for each area.
func builtin() []Def {
	return slices.Concat(
		engineDefs(), schedulerDefs(), jobDefs(), downloaderDefs(), wireDefs(), politeDefs(), identityDefs(), componentDefs(),
		middlewareDefs(), httpCacheDefs(), logDefs(), closeDefs(), feedDefs(), memoryDefs(), unsupportedDefs(),
	)
}

var namePattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

func (d *Def) validate() error {
	switch {
	case !namePattern.MatchString(d.Name):
		return errors.New("want a name of capital letters, digits and underscores")
	case d.Status == Supported && d.Help == "":
		return errors.New("want a help text")
	case d.Status == Unsupported && d.Reason == "":
		return errors.New("want a reason why it is not supported")
	}
	return d.validateDefault()
}

func (d *Def) validateDefault() error {
	switch d.Default.(type) {
	case string, bool, int, int64, float64, time.Duration, []string, []int, map[string]int, map[string]any:
	default:
		return fmt.Errorf("a setting cannot have the type %T", d.Default)
	}
	raw, err := canonical(d.Default)
	if err != nil {
		return err
	}
	v, err := d.parse(raw)
	if err != nil {
		return fmt.Errorf("default %s: %w", Format(d.Default), err)
	}
	if !reflect.DeepEqual(v, d.Default) {
		return fmt.Errorf("default %s is not in its plain form %s", Format(d.Default), Format(v))
	}
	return nil
}
