package feeds

import (
	"errors"
	"fmt"
	"strings"
)

// Form is how a feed looks. The zero value is the default.
type Form struct {
	// Fields are the fields to export, in this order; none for all
	// (FEED_EXPORT_FIELDS).
	Fields []Field

	// Indent is the layout of a JSON array, see [ExporterOptions]
	// (FEED_EXPORT_INDENT).
	Indent int

	// SkipEmpty leaves no file behind if there was no item (FEED_STORE_EMPTY is
	// False).
	SkipEmpty bool
}

// ParseFields reads fields, each as its name, or as name=title if the feed calls
// it something else.
func ParseFields(list []string) ([]Field, error) {
	var fields []Field
	seen := map[string]bool{}
	for _, s := range list {
		name, title, ok := strings.Cut(s, "=")
		if !ok {
			title = name
		}
		switch {
		case name == "":
			return nil, errors.New("a field has no name: want names such as title, or name=title")
		case seen[name]:
			return nil, fmt.Errorf("the field %s is there twice", name)
		}
		seen[name] = true
		fields = append(fields, Field{Name: name, Title: title})
	}
	return fields, nil
}
