package settings

import (
	"maps"
	"slices"
)

// Status says whether a setting of the table does anything.
type Status uint8

const (
	// Supported is the status of a setting that this version obeys.
	Supported Status = iota
	// Unsupported is the status of a setting of Scrapy that is known and that
	// this version does not obey. [Def.Reason] says why.
	Unsupported
)

// String returns "supported" or "unsupported".
func (s Status) String() string {
	if s == Unsupported {
		return "unsupported"
	}
	return "supported"
}

// A Def defines one setting. A Def with a Name, a Default and a Help is
// complete; the rest narrows which values are good and how they may be spelled.
type Def struct {
	// Name is the setting's name: capital letters, digits and underscores.
	Name string
	// Default is the value without any layer above. Its type is the type of the
	// setting: string, bool, int, int64 (a size in bytes), float64,
	// time.Duration, []string, []int, map[string]int (component to order,
	// [Disabled] for none) or map[string]any (JSON kinds).
	Default any
	// Help is one or two sentences for the user, with unit and meaning of zero.
	Help string
	// Check refuses a value of the right type; nil accepts all. The error says
	// what would be right and names neither the setting nor the value.
	Check func(any) error
	// Choices are the good values of a string setting; none means any string.
	// An empty choice is the value None. Letter case does not matter.
	Choices []string
	// Open says that the choices are names of components, to which those that
	// register themselves add with [Registry.Offer].
	Open bool
	// Aliases are other spellings of a string value, or of a component's name
	// in a map[string]int, such as Scrapy's class paths.
	Aliases map[string]string
	// Refused are values that users bring along and that this version does not
	// have, with the reason of each.
	Refused map[string]string
	// Titles says that a list of names may be given as a JSON object too, from
	// name to title: it becomes the list of name=title, in the same order.
	Titles bool
	// ZeroIsOff says that zero switches a numeric setting off, so that None and
	// the empty string are accepted for it.
	ZeroIsOff bool
	// Secret hides the value in messages and listings.
	Secret bool
	// Status is Supported unless the setting is only known.
	Status Status
	// Reason is, for an unsupported setting, the sentence that says why.
	Reason string
	// Off are, for an unsupported setting, the values that describe what this
	// version does anyway: setting them is fine. Without any it is the default
	// that is fine.
	Off []any
}

// copied shares no map and no list with d.
func (d *Def) copied() Def {
	out := *d
	out.Default = clone(d.Default)
	out.Choices = slices.Clone(d.Choices)
	out.Aliases = maps.Clone(d.Aliases)
	out.Refused = maps.Clone(d.Refused)
	out.Off = slices.Clone(d.Off)
	return out
}

// parse turns what a layer says into the value of the setting, or explains
// what is wrong with it. raw is canonical, see [canonical].
func (d *Def) parse(raw any) (any, error) {
	v, err := d.coerce(raw)
	if err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		if v, err = d.choose(text); err != nil {
			return nil, err
		}
	}
	if d.Check != nil {
		if err := d.Check(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}
