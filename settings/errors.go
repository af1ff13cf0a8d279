package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// An Error is one thing that is wrong with the settings. [Builder.Build]
// returns all of them, joined by errors.Join.
type Error struct {
	// Name is the setting, or empty if a source as a whole could not be read.
	Name string
	// Value is what was given, as text; empty for an unknown setting and "***"
	// for a secret one.
	Value string
	// Source is where it was given.
	Source Source
	// Want says what would be right, or is empty if Reason says more.
	Want string
	// Reason says what is wrong.
	Reason string
	// Nearest is the known name or value that the user probably meant, or empty.
	Nearest string
	// Err is the cause, such as the error of the file system, or nil.
	Err error
}

// maxShown bounds how much of a bad value a message repeats, in bytes.
const maxShown = 80

// Error returns one line: setting, value, source, and what would be right.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Name == "":
		b.WriteString(e.Source.String())
	case e.Value == "" && e.Want == "":
		fmt.Fprintf(&b, "%s (%s)", e.Name, e.Source)
	default:
		fmt.Fprintf(&b, "%s=%s (%s)", e.Name, show(e.Value), e.Source)
	}
	b.WriteString(": " + e.explain())
	if e.Nearest != "" {
		fmt.Fprintf(&b, "; did you mean %s?", e.Nearest)
	}
	return b.String()
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) explain() string {
	switch {
	case e.Reason != "":
		return e.Reason
	case e.Want != "":
		return "want " + e.Want
	default:
		return e.Err.Error()
	}
}

// show quotes a value so that a message stays one short line.
func show(value string) string {
	if len(value) > maxShown {
		return strconv.Quote(value[:maxShown]) + "…"
	}
	return strconv.Quote(value)
}

// A Warning is something odd in a config file or a spider that does not stop
// a crawl: a setting that is unknown or that this version does not have.
type Warning Error

// String returns one line, as [Error.Error] does.
func (w Warning) String() string { return (*Error)(&w).Error() }

// wanted is an error that says only what would have been right.
type wanted struct{ text, nearest string }

func (w wanted) Error() string { return "want " + w.text }

func want(text string) error { return wanted{text: text} }
