package settings

// A Layer collects what a spider sets for its own crawls. The zero value is
// empty and ready to use. It is not safe for concurrent use.
type Layer struct{ entries []entry }

// Set gives a value to a setting. The value may have the setting's type or any
// spelling that the command line accepts; it is copied. Of two values for one
// name the later one counts. Whether name and value are good is reported by
// [Builder.Build].
func (l *Layer) Set(name string, value any) {
	raw, err := canonical(value)
	l.entries = append(l.entries, entry{name: name, raw: raw, err: err})
}
