package settings

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Settings is an immutable snapshot of all supported settings. It is safe for
// concurrent use. Lists and maps that it returns are copies.
//
// The typed getters panic on a name that is not in the table and on a type
// that is not the setting's: both are mistakes in the program, not of its user.
type Settings struct{ values map[string]Value }

// Lookup returns a setting with its source. It reports false for a name that
// is unknown or not supported.
func (s *Settings) Lookup(name string) (Value, bool) {
	v, ok := s.values[name]
	v.V = clone(v.V)
	return v, ok
}

// Wrong returns the error for a value of a setting that can be judged only where it
// is used. Components return it from their constructors as it is.
func (s *Settings) Wrong(name string, err error) *Error {
	v := s.values[name]
	return &Error{Name: name, Value: v.String(), Source: v.Source, Err: err}
}

// All yields every supported setting in name order.
func (s *Settings) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.values)) {
			if v, _ := s.Lookup(name); !yield(name, v) {
				return
			}
		}
	}
}

// String returns a setting that is text.
func (s *Settings) String(name string) string { return get[string](s, name) }

// JobDir returns the setting JOBDIR as it is for the spider of this name: with
// %(name)s and %% filled in. It is "" for none.
func (s *Settings) JobDir(spider string) string {
	return strings.NewReplacer("%%", "%", "%(name)s", spider).Replace(s.String("JOBDIR"))
}

// Bool returns a setting that is a switch.
func (s *Settings) Bool(name string) bool { return get[bool](s, name) }

// Int returns a setting that is a whole number.
func (s *Settings) Int(name string) int { return get[int](s, name) }

// Size returns a setting that is a size in bytes.
func (s *Settings) Size(name string) int64 { return get[int64](s, name) }

// Float returns a setting that is a number.
func (s *Settings) Float(name string) float64 { return get[float64](s, name) }

// Duration returns a setting that is a time.
func (s *Settings) Duration(name string) time.Duration { return get[time.Duration](s, name) }

// Strings returns a setting that is a list of texts.
func (s *Settings) Strings(name string) []string { return get[[]string](s, name) }

// Ints returns a setting that is a list of whole numbers.
func (s *Settings) Ints(name string) []int { return get[[]int](s, name) }

// Orders returns a setting that maps the names of components to their order,
// [Disabled] among them. Most callers want [Settings.Components].
func (s *Settings) Orders(name string) map[string]int { return get[map[string]int](s, name) }

// Map returns a setting that maps names to values of JSON kinds.
func (s *Settings) Map(name string) map[string]any { return get[map[string]any](s, name) }

func get[T any](s *Settings, name string) T {
	v, ok := s.Lookup(name)
	if !ok {
		panic("settings: there is no setting " + name)
	}
	t, ok := v.V.(T)
	if !ok {
		panic(fmt.Sprintf("settings: %s is a %T, not a %T", name, v.V, t))
	}
	return t
}

// A Component is one component of a component setting, such as a middleware.
type Component struct {
	Name  string
	Order int
}

// Components returns the enabled components of a component setting in their
// order, equal ones by name. The built-in ones, from the setting of that name
// with _BASE behind it, take part: the setting itself moves or disables them
// (Scrapy's rule for X and X_BASE).
func (s *Settings) Components(name string) []Component {
	merged := s.Orders(name + "_BASE")
	maps.Copy(merged, s.Orders(name))
	var out []Component
	for component, order := range merged {
		if order != Disabled {
			out = append(out, Component{component, order})
		}
	}
	slices.SortFunc(out, func(x, y Component) int {
		return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.Name, y.Name))
	})
	return out
}

// Decode returns a T whose fields with a tag `setting:"NAME"` hold those
// settings; other fields are zero. T is a struct. Decode panics if a tag names
// no setting, or the field is unexported or of another type than the setting.
func Decode[T any](s *Settings) T {
	var dst T
	v := reflect.ValueOf(&dst).Elem()
	for field, dstField := range v.Fields() {
		name, ok := field.Tag.Lookup("setting")
		if !ok {
			continue
		}
		value := get[any](s, name)
		if !field.IsExported() || field.Type != reflect.TypeOf(value) {
			panic(fmt.Sprintf("settings: field %s.%s cannot hold %s, a %T", v.Type(), field.Name, name, value))
		}
		dstField.Set(reflect.ValueOf(value))
	}
	return dst
}
