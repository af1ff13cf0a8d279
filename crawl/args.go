package crawl

import (
	"encoding"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skeincrawl/skein/settings"
)

// An ArgError is an argument that a spider does not take, or of a wrong value.
// The value of a secret argument is left out.
type ArgError struct {
	Spider, Arg, Value string
	Reason             string
}

// Error names the spider, the argument and what is wrong.
func (e *ArgError) Error() string {
	return fmt.Sprintf("spider %s: argument %s: %s", e.Spider, e.Arg, e.Reason)
}

// An Arg is an argument that a spider takes: a field tagged `arg:"name"`, of a
// string, bool, number, time.Duration, []string (split at commas) or a type that
// is an [encoding.TextUnmarshaler]. Options follow the name after commas.
type Arg struct {
	Name   string
	Secret bool   // option secret: the value must not be stored or shown
	Run    bool   // option run: the value may differ between the runs of a job
	Doc    string // from a `doc:"…"` tag
	field  []int
	bad    string // an option that there is not
}

// Args lists the arguments of a spider in the order of its fields: those of its
// struct and of the structs that it embeds by value.
func (s Spec) Args() []Arg { return listArgs(elem(reflect.TypeOf(s.New())), nil) }

func listArgs(t reflect.Type, at []int) []Arg {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var args []Arg
	for i := range t.NumField() {
		f := t.Field(i)
		path := append(slices.Clone(at), i)
		tag := f.Tag.Get("arg")
		switch name, opts, _ := strings.Cut(tag, ","); {
		case name != "":
			a := Arg{Name: name, Doc: f.Tag.Get("doc"), field: path}
			a.options(opts)
			args = append(args, a)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			args = append(args, listArgs(f.Type, path)...)
		}
	}
	return args
}

func (a *Arg) options(opts string) {
	for opt := range strings.SplitSeq(opts, ",") {
		switch opt {
		case "":
		case "secret":
			a.Secret = true
		case "run":
			a.Run = true
		default:
			a.bad = opt
		}
	}
}

// Build makes a spider, fills its arguments and lets it validate them. Every
// argument that is unknown or of a wrong value is an [ArgError] of its own.
func (s Spec) Build(args map[string]string) (Spider, []error) {
	sp := s.New()
	known := map[string]Arg{}
	var errs []error
	for _, a := range listArgs(elem(reflect.TypeOf(sp)), nil) {
		known[a.Name] = a
		if a.bad != "" {
			errs = append(errs, &ArgError{Spider: s.Name, Arg: a.Name, Reason: fmt.Sprintf("its tag has the option %q, which there is not (there are secret and run)", a.bad)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		a, ok := known[name]
		if !ok {
			errs = append(errs, &ArgError{Spider: s.Name, Arg: name, Value: args[name], Reason: unknownArg(name, maps.Keys(known))})
			continue
		}
		if err := a.set(sp, args[name]); err != nil {
			errs = append(errs, a.wrong(s.Name, args[name], err))
		}
	}
	if v, ok := sp.(Validator); ok && len(errs) == 0 {
		if err := v.Validate(); err != nil {
			errs = append(errs, err)
		}
	}
	return sp, errs
}

// wrong returns the error for a value. That of a secret does not show it.
func (a Arg) wrong(spider, value string, err error) error {
	if a.Secret {
		return &ArgError{Spider: spider, Arg: a.Name, Reason: "the value, which is secret, can not be used"}
	}
	return &ArgError{Spider: spider, Arg: a.Name, Value: value, Reason: err.Error()}
}

// set fills the field of the argument.
func (a Arg) set(sp Spider, value string) error {
	v := reflect.ValueOf(sp)
	if v.Kind() != reflect.Pointer {
		return fmt.Errorf("the fields of a %T can not be set, New has to return a pointer", sp)
	}
	f := v.Elem().FieldByIndex(a.field)
	if !f.CanSet() {
		return fmt.Errorf("the field of %T for it is not exported", sp)
	}
	return setArg(f, value)
}

func unknownArg(name string, known iter.Seq[string]) string {
	names := slices.Sorted(known)
	if len(names) == 0 {
		return "the spider takes no arguments"
	}
	msg := "is not known"
	if near := settings.Nearest(name, slices.Values(names)); near != "" {
		msg += fmt.Sprintf(", did you mean %s?", near)
	}
	return msg + " (it takes " + strings.Join(names, ", ") + ")"
}

// setArg parses a value into a field. A field whose type is an
// [encoding.TextUnmarshaler] parses it itself.
func setArg(v reflect.Value, s string) error {
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		return u.UnmarshalText([]byte(s))
	}
	if _, ok := reflect.TypeAssert[time.Duration](v); ok {
		return setDuration(v, s)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		b, err := strconv.ParseBool(strings.ToLower(s))
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", s)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number, or too large", s)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(s, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number of 0 or more, or too large", s)
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(s, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no number, or too large", s)
		}
		v.SetFloat(f)
	case reflect.Slice:
		return setList(v, s)
	default:
		return fmt.Errorf("fields of type %v can not be arguments", v.Type())
	}
	return nil
}

func setList(v reflect.Value, s string) error {
	if v.Type().Elem().Kind() != reflect.String {
		return fmt.Errorf("fields of type %v can not be arguments", v.Type())
	}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			v.Set(reflect.Append(v, reflect.ValueOf(part).Convert(v.Type().Elem())))
		}
	}
	return nil
}

func setDuration(v reflect.Value, s string) error {
	d, err := time.ParseDuration(s)
	if err == nil {
		v.SetInt(int64(d))
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(f) < math.MaxInt64/float64(time.Second)) {
		return fmt.Errorf("%q is no duration such as 250ms, and no number of seconds", s)
	}
	v.SetInt(int64(f * float64(time.Second)))
	return nil
}
