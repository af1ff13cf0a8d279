package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// EnvPrefix begins the name of every environment variable that is a setting.
const EnvPrefix = "CRAWL_"

// An entry is one assignment of one layer, not yet looked at.
type entry struct {
	name string
	raw  any // canonical
	err  error
	src  Source
}

// A Builder collects the layers of the settings. Its methods may be called in
// any order: the layer decides, and within one layer the later call. It is not
// safe for concurrent use.
type Builder struct {
	reg     *Registry
	entries []entry
	errs    []*Error // sources that could not be read
}

// New returns a builder that knows the settings of the program.
func New() *Builder { return Default().Builder() }

// Builder returns a builder that knows the settings of this registry.
func (r *Registry) Builder() *Builder { return &Builder{reg: r} }

// Spider adds what the spider of this name sets. Values may have any type that
// the setting accepts and are copied.
func (b *Builder) Spider(name string, values map[string]any) *Builder {
	return b.addMap(Source{FromSpider, "spider " + name}, values)
}

// Configure runs the hook by which the spider of this name sets values that it
// computes. They belong to the spider's layer; an error of the hook is
// reported by [Builder.Build]. A nil hook does nothing.
func (b *Builder) Configure(name string, hook func(*Layer) error) *Builder {
	if hook == nil {
		return b
	}
	src, l := Source{FromSpider, "spider " + name}, &Layer{}
	if err := hook(l); err != nil {
		b.fail(&Error{Source: src, Err: fmt.Errorf("configure: %w", err)})
	}
	for _, e := range l.entries {
		e.src = src
		b.entries = append(b.entries, e)
	}
	return b
}

// Environ adds the variables that begin with [EnvPrefix], from a list in the
// form of os.Environ.
func (b *Builder) Environ(environ []string) *Builder {
	for _, kv := range environ {
		variable, value, ok := strings.Cut(kv, "=")
		if name, ours := strings.CutPrefix(variable, EnvPrefix); ok && ours {
			b.entries = append(b.entries, entry{name: name, raw: value, src: Source{FromEnvironment, variable}})
		}
	}
	return b
}

// Assign adds one NAME=VALUE of the command line. The value may contain equal
// signs and commas.
func (b *Builder) Assign(arg string) *Builder {
	name, value, ok := strings.Cut(arg, "=")
	if !ok || name == "" {
		return b.fail(&Error{Source: Source{FromCommandLine, "-s " + arg}, Want: "NAME=VALUE"})
	}
	b.entries = append(b.entries, entry{name: name, raw: value, src: Source{FromCommandLine, "-s " + name}})
	return b
}

func (b *Builder) addMap(src Source, values map[string]any) *Builder {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		raw, err := canonical(values[name])
		b.entries = append(b.entries, entry{name, raw, err, src})
	}
	return b
}

func (b *Builder) fail(e *Error) *Builder {
	b.errs = append(b.errs, e)
	return b
}

// Build checks everything that the layers hold and returns the snapshot. What
// is wrong is returned all at once, as errors.Join of one *[Error] each: first
// the sources that could not be read, then by name and layer. A value is
// checked even where a higher layer overrides it. Warnings are returned with
// and without an error.
//
// An unknown setting, or one that this version does not support, is an error
// in the environment and on the command line and a warning in a file or a
// spider: files are shared between versions and programs.
func (b *Builder) Build() (*Settings, []Warning, error) {
	out := newOutcome(b.reg.snapshot(), b.errs)
	entries := slices.Clone(b.entries)
	slices.SortStableFunc(entries, func(x, y entry) int { return cmp.Compare(x.src.Origin, y.src.Origin) })
	for _, e := range entries {
		out.take(e)
	}
	if err := joined(out.errs); err != nil {
		return nil, warnings(out.warns), err
	}
	return &Settings{values: out.values}, warnings(out.warns), nil
}

func byName(x, y *Error) int { return cmp.Compare(x.Name, y.Name) }

func joined(list []*Error) error {
	slices.SortStableFunc(list, byName)
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errors.Join(errs...)
}

func warnings(list []*Error) []Warning {
	slices.SortStableFunc(list, byName)
	out := make([]Warning, len(list))
	for i, e := range list {
		out[i] = Warning(*e)
	}
	return out
}
