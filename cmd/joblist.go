package cmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// listFlags are those of the commands that list something.
type listFlags struct {
	json  bool
	limit int
	all   bool // no limit was given, and there is none
}

func (f *listFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.limit, "limit", 20, "at most `N` rows, 0 is all; --json: all")
	c.Flags().BoolVar(&f.json, "json", false, "as lines of JSON")
}

func (f *listFlags) check(c *cobra.Command) error {
	if f.limit < 0 {
		return usageError{fmt.Errorf("--limit %d: want 0 or more", f.limit)}
	}
	f.all = f.limit == 0 || f.json && !c.Flags().Changed("limit")
	return nil
}

// A row is one of a list: an object of JSON, or some cells.
type row interface{ cells() []string }

// A list writes rows as they come: lines of JSON, or a table.
type list struct {
	flags listFlags
	out   *bufio.Writer
	enc   *json.Encoder     // of lines,
	table *tabwriter.Writer // or nil
	rows  int
}

// tableBlock is how many rows are aligned with each other, and held in memory.
const tableBlock = 1000

// open begins the list on standard output.
func (f *listFlags) open(sys *system, head ...string) *list { return f.to(pipe{sys.Stdout}, head...) }

func (f *listFlags) to(w io.Writer, head ...string) *list {
	l := &list{flags: *f, out: bufio.NewWriter(w)}
	if f.json {
		l.enc = json.NewEncoder(l.out)
		l.enc.SetEscapeHTML(false)
		return l
	}
	l.table = tabwriter.NewWriter(l.out, 0, 0, 2, ' ', 0)
	l.line(head)
	return l
}

// full reports whether further rows are only counted.
func (l *list) full() bool { return !l.flags.all && l.rows >= l.flags.limit }

// skip counts a row.
func (l *list) skip() { l.rows++ }

// add writes a row, or counts it.
func (l *list) add(r row) error {
	full := l.full()
	l.rows++
	switch {
	case full:
		return nil
	case l.table == nil:
		return l.enc.Encode(r)
	}
	l.line(r.cells())
	if l.rows%tableBlock == 0 {
		return l.table.Flush()
	}
	return nil
}

// line writes cells. What would break the table is taken out of them: URLs and
// errors come from anywhere.
func (l *list) line(cells []string) {
	clean := make([]string, len(cells))
	for i, c := range cells {
		clean[i] = plain(c)
	}
	_, _ = fmt.Fprintln(l.table, strings.Join(clean, "\t")) // its error stays, for Flush
}

// plain replaces what a terminal might obey, and tells an empty cell.
func plain(text string) string {
	if text == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// close writes what is left, and how many rows are not shown.
func (l *list) close() error {
	var err error
	if l.table != nil {
		err = l.table.Flush()
		if more := l.rows - l.flags.limit; !l.flags.all && more > 0 {
			_, _ = fmt.Fprintf(l.out, "... and %d more (--limit 0 shows all)\n", more)
		}
	}
	return errors.Join(err, l.out.Flush())
}
