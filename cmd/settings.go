package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// settingsFlags are the flags of `crawl settings` as they were given.
type settingsFlags struct {
	layerFlags
	name          string
	explain, json bool
}

func newSettings(sys *system) *cobra.Command {
	var f settingsFlags
	c := &cobra.Command{
		Use:   "settings [SPIDER]",
		Short: "Shows the settings and where each comes from",
		Long: "Shows every setting with its value and where that comes from: a default, the\n" +
			"config file, the spider if one is named, the environment, -s. Those of Scrapy\n" +
			"that do not exist here are shown with the reason.",
		Example:           "  crawl settings --get DOWNLOAD_DELAY\n  crawl settings quotes -s DOWNLOAD_DELAY=2 --explain",
		Args:              atMostOneSpider,
		ValidArgsFunction: completeSpider,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(sys, c.Root(), args) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.name, "get", "", "only the value of `NAME`")
	flags.BoolVar(&f.explain, "explain", false, "what each means, and every layer that sets it")
	flags.BoolVar(&f.json, "json", false, "as JSON, with all that is known")
	f.addSet(c)
	f.addConfig(c)
	completeFlag(c, "get", completeName)
	return c
}

func atMostOneSpider(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return oneSpider(c, args)
}

// completeName completes the name of a setting.
func completeName(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, _ := completeSetting(c, args, typed)
	for i := range list {
		list[i] = strings.Replace(list[i], "=", "", 1)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func (f *settingsFlags) run(sys *system, root *cobra.Command, args []string) error {
	var spec crawl.Spec
	var unknown error
	if len(args) > 0 {
		spec, unknown = findSpec(root, args[0])
	}
	set, warnings, err := f.layers(sys, spec, nil).Build()
	unwritten := tell(sys, warnings)
	if err := errors.Join(unknown, err); err != nil {
		return configError{errors.Join(unwritten, err)}
	}
	if unwritten != nil {
		return unwritten
	}
	rows, err := f.pick(f.rows(sys, spec, set))
	if err != nil {
		return configError{err}
	}
	text, err := f.render(rows)
	if err != nil {
		return err
	}
	_, err = pipe{sys.Stdout}.Write(text)
	return err
}

// tell writes warnings where there is no log.
func tell(sys *system, warnings []settings.Warning) error {
	for _, w := range warnings {
		if _, err := fmt.Fprintln(sys.Stderr, "crawl: warning:", w); err != nil {
			return fmt.Errorf("write a warning: %w", err)
		}
	}
	return nil
}

// A settingRow is what is known of one setting. Values are spelled as -s takes
// them; secret ones are not shown.
type settingRow struct {
	Name      string       `json:"name"`
	Supported bool         `json:"supported"`
	Value     string       `json:"value,omitempty"`
	Source    string       `json:"source,omitempty"`
	Default   string       `json:"default"`
	Layers    []layerValue `json:"layers,omitempty"` // lowest first
	Help      string       `json:"help,omitempty"`
	Reason    string       `json:"reason,omitempty"` // why it is not supported
}

// A layerValue is what one layer says.
type layerValue struct {
	Value  string `json:"value"`
	Source string `json:"source"`
}

// rows returns what is known of all settings, in the order of their names.
func (f *settingsFlags) rows(sys *system, spec crawl.Spec, set *settings.Settings) []settingRow {
	var layers []*settings.Settings
	for _, add := range f.each(sys, spec) {
		b := settings.New()
		add(b)
		if s, _, err := b.Build(); err == nil { // all together are good, so each is
			layers = append(layers, s)
		}
	}
	var rows []settingRow
	for d := range settings.Default().Defs() {
		row := settingRow{
			Name: d.Name, Supported: d.Status == settings.Supported, Help: d.Help, Reason: d.Reason,
			Default: settings.Value{V: d.Default, Secret: d.Secret}.String(),
		}
		if v, ok := set.Lookup(d.Name); ok {
			row.Value, row.Source, row.Layers = v.String(), v.Source.String(), givenBy(layers, d.Name)
		}
		rows = append(rows, row)
	}
	return rows
}

func givenBy(layers []*settings.Settings, name string) []layerValue {
	var given []layerValue
	for _, l := range layers {
		if v, ok := l.Lookup(name); ok && v.Source.Origin != settings.FromDefault {
			given = append(given, layerValue{v.String(), v.Source.String()})
		}
	}
	return given
}

// pick leaves the row of --get.
func (f *settingsFlags) pick(rows []settingRow) ([]settingRow, error) {
	if f.name == "" {
		return rows, nil
	}
	names := map[string]bool{}
	for i, row := range rows {
		if names[row.Name] = true; row.Name != f.name {
			continue
		}
		if !row.Supported && !f.explain && !f.json {
			return nil, fmt.Errorf("--get %s: it is not supported: %s", row.Name, row.Reason)
		}
		return rows[i : i+1], nil
	}
	err := fmt.Errorf("--get %s: there is no such setting", f.name)
	if near := settings.Nearest(f.name, maps.Keys(names)); near != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return nil, err
}

func (f *settingsFlags) render(rows []settingRow) ([]byte, error) {
	var b bytes.Buffer
	switch {
	case f.json:
		return renderJSON(rows, f.name != "")
	case f.name != "" && !f.explain:
		return fmt.Appendln(nil, rows[0].Value), nil
	}
	for _, row := range rows {
		row.write(&b, f.explain)
	}
	return b.Bytes(), nil
}

// renderJSON writes one object for one setting, and else a list.
func renderJSON(rows []settingRow, single bool) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	var v any = rows
	if single {
		v = rows[0]
	}
	err := enc.Encode(v)
	return b.Bytes(), err
}

// write writes a row as text.
func (r settingRow) write(b *bytes.Buffer, explain bool) {
	if !r.Supported {
		fmt.Fprintf(b, "%s is not supported: %s\n", r.Name, r.Reason)
		return
	}
	fmt.Fprintf(b, "%s=%s (%s)\n", r.Name, r.Value, r.Source)
	if !explain {
		return
	}
	fmt.Fprintf(b, "    %s\n    default: %s\n", r.Help, r.Default)
	for _, l := range r.Layers {
		fmt.Fprintf(b, "    %s: %s\n", l.Source, l.Value)
	}
}
