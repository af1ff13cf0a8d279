package docs

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/skeincrawl/skein/engine/builtin" // components may declare settings
	"github.com/skeincrawl/skein/settings"
)

var update = flag.Bool("update", false, "write docs/settings.md and the table of docs/signals.md anew")

const settingsHead = "# Settings\n\n" +
	"Made from the table in `settings` by `go test ./internal/docs -update`; a test compares them. `crawl settings` shows\n" +
	"the same with the values of a crawl and where each comes from.\n\n" +
	"A value comes from the highest layer that sets it: the default, the config file (`crawl.yaml`, `crawl.yml`,\n" +
	"`crawl.toml` or `crawl.json` in the working directory, or `--config FILE`), the spider, the environment (`JOBDIR` is\n" +
	"the variable `CRAWL_JOBDIR`), the command line (`-s JOBDIR=crawls/x`). Wrong values, wherever they stand, end the\n" +
	"start with one line each and exit code 2. So does an unknown name on the command line or in the environment; in a\n" +
	"file or a spider it is a warning.\n\n" +
	"| type | how it is written |\n|---|---|\n" +
	"| switch | `True` or `False` (`1`, `0`, `yes` and `no` work too) |\n" +
	"| time | seconds such as `0.25`, or a duration such as `250ms` |\n" +
	"| size | bytes such as `1048576`, or `1MiB` |\n" +
	"| list | `a,b`, or a JSON array |\n" +
	"| components | names and their order as a JSON object, `{\"retry\": 550, \"redirect\": null}`; null disables one |\n" +
	"| map | a JSON object, or `name=value,name2=value2` |\n\n" +
	"`None` is the empty value of texts, and off where 0 is off.\n\n"

// TestSettingsDoc compares docs/settings.md with the table of settings.
func TestSettingsDoc(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(settingsHead)
	writeSupported(&b)
	writeUnsupported(&b)
	file := filepath.Join(root, "docs", "settings.md")
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(have, b.Bytes()) {
		t.Errorf("docs/settings.md is not up to date (%v): go test ./internal/docs -run TestSettingsDoc -update", err)
	}
}

// TestYAMLBlocks reads every config file in the documentation.
func TestYAMLBlocks(t *testing.T) {
	for _, b := range blocks(t) {
		if b.lang != "yaml" {
			continue
		}
		file := filepath.Join(t.TempDir(), "crawl.yaml")
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, warnings, err := settings.New().File(file).Build(); err != nil || len(warnings) > 0 {
			t.Errorf("%s:%d: %v, %v", b.file, b.line, err, warnings)
		}
	}
}

func writeSupported(b *bytes.Buffer) {
	b.WriteString("## What there is\n\n| setting | type | default | meaning |\n|---|---|---|---|\n")
	for d := range settings.Default().Defs() {
		if d.Status == settings.Supported {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", d.Name, typeOf(d), code(settings.Format(d.Default)), cell(d.Help))
		}
	}
}

// writeUnsupported lists the other names by their reasons.
func writeUnsupported(b *bytes.Buffer) {
	names := map[string][]string{}
	for d := range settings.Default().Defs() {
		if d.Status == settings.Unsupported {
			names[d.Reason] = append(names[d.Reason], "`"+d.Name+"`")
		}
	}
	b.WriteString("\n## What Scrapy has and this does not\n\nThe names are known. Scrapy's default, or a value that asks for nothing, is accepted; anything else is refused with\nthe reason; in a configuration file it is a warning.\n\n| reason | settings |\n|---|---|\n")
	for _, reason := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(b, "| %s | %s |\n", cell(reason), strings.Join(names[reason], ", "))
	}
}

func typeOf(d settings.Def) string {
	switch d.Default.(type) {
	case bool:
		return "switch"
	case int:
		return "whole number"
	case float64:
		return "number"
	case int64:
		return "size"
	case time.Duration:
		return "time"
	case []string, []int:
		return "list"
	case map[string]int:
		return "components"
	case map[string]any:
		return "map"
	}
	var names []string
	for _, c := range d.Choices {
		if c == "" {
			c = "None"
		}
		names = append(names, code(c))
	}
	if len(names) == 0 {
		return "text"
	}
	return strings.Join(names, ", ")
}

func code(text string) string {
	if text == "" {
		return "none"
	}
	return "`" + cell(text) + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
