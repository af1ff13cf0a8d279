package cmd

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// What scripts read is in the docs, field by field.
func TestJobFieldsInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/job-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	of, rest, ok := strings.Cut(string(text), "\n## The rest as JSON")
	if !ok {
		t.Fatal("docs/job-commands.md has no section «The rest as JSON»")
	}
	_, status, _ := strings.Cut(of, "`--json` has the same for scripts:")
	status, _, _ = strings.Cut(status, "\n## ")
	for _, c := range []struct {
		command, docs string
		documents     []any
	}{
		{"status", status, []any{jobStatus{}, jobProcess{}, jobPending{}, jobFeed{}, slotCount{}}},
		{"`queue`", rest, []any{queuedRow{}}},
		{"`queue --count`", rest, []any{slotCount{}}},
		{"`failed`", rest, []any{failedRow{}}},
		{"the request of both", rest, []any{requestRow{}}},
		{"`seen URL...`", rest, []any{seenRow{}}},
		{"`retry-failed`", rest, []any{retried{}}},
		{"`drop`", rest, []any{dropped{}}},
		{"`verify`", rest, []any{verified{}}},
		{"`repair`", rest, []any{repaired{}}},
	} {
		docs := c.docs
		if c.command != "status" {
			docs = docsRow(docs, c.command)
		}
		for _, d := range c.documents {
			for _, name := range jsonNames(reflect.TypeOf(d)) {
				if !strings.Contains(docs, "`"+name+"`") {
					t.Errorf("the docs of %s lack the field %s: %q", c.command, name, docs)
				}
			}
		}
	}
}

// docsRow returns the cells after the first of a row of a table.
func docsRow(table, first string) string {
	_, row, _ := strings.Cut(table, "\n| "+first+" |")
	row, _, _ = strings.Cut(row, "\n")
	return row
}

// jsonNames returns the names of a struct's own fields in JSON.
func jsonNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if tag := f.Tag.Get("json"); tag != "" {
			name, _, _ := strings.Cut(tag, ",")
			names = append(names, name)
		}
	}
	return names
}
