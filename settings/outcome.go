package settings

import (
	"errors"
	"maps"
	"reflect"
	"slices"
)

// An outcome is what becomes of the entries while they are taken one by one,
// lowest layer first.
type outcome struct {
	defs        map[string]*Def
	values      map[string]Value
	errs, warns []*Error
}

func newOutcome(defs map[string]*Def, errs []*Error) *outcome {
	o := &outcome{defs: defs, values: map[string]Value{}, errs: slices.Clone(errs)}
	for name, d := range defs {
		if d.Status == Supported {
			o.values[name] = Value{V: clone(d.Default), Secret: d.Secret}
		}
	}
	return o
}

func (o *outcome) take(e entry) {
	d, ok := o.defs[e.name]
	switch {
	case !ok:
		o.report(&Error{
			Name: e.name, Source: e.src, Reason: "there is no such setting",
			Nearest: Nearest(e.name, maps.Keys(o.defs)),
		})
	case d.Status == Unsupported:
		o.takeUnsupported(d, e)
	default:
		o.takeSupported(d, e)
	}
}

func (o *outcome) takeSupported(d *Def, e entry) {
	err := e.err
	var v any
	if err == nil {
		v, err = d.parse(e.raw)
	}
	if err != nil {
		o.errs = append(o.errs, badValue(d, e, err))
		return
	}
	o.values[d.Name] = Value{V: v, Source: e.src, Secret: d.Secret}
}

// takeUnsupported lets pass what asks for nothing. A default that names a
// feature which is missing here is no error, because copied settings are full
// of defaults, but it is not silent either.
func (o *outcome) takeUnsupported(d *Def, e entry) {
	refusal := &Error{Name: d.Name, Value: given(d, e), Source: e.src, Reason: d.Reason}
	v, err := d.parse(e.raw)
	is := func(good any) bool { return err == nil && e.err == nil && reflect.DeepEqual(v, good) }
	switch {
	case slices.ContainsFunc(d.Off, is):
	case !is(d.Default):
		o.report(refusal)
	case len(d.Off) > 0:
		o.warns = append(o.warns, refusal)
	}
}

// report files an error where a person typed the name just now, and a warning
// where it stands in a file or in code.
func (o *outcome) report(e *Error) {
	if e.Source.Origin >= FromEnvironment {
		o.errs = append(o.errs, e)
		return
	}
	o.warns = append(o.warns, e)
}

func badValue(d *Def, e entry, err error) *Error {
	out := &Error{Name: d.Name, Value: given(d, e), Source: e.src, Err: err}
	if w, ok := errors.AsType[wanted](err); ok {
		out.Want, out.Nearest = w.text, w.nearest
	} else {
		out.Reason = err.Error()
	}
	return out
}

// given is the value as it was written, as far as it may be shown.
func given(d *Def, e entry) string {
	if e.err != nil {
		return ""
	}
	return reveal(Format(e.raw), d.Secret)
}
