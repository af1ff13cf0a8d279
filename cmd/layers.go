package cmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// layerFlags are the flags that say where settings come from.
type layerFlags struct {
	sets   []string
	config string
}

func (f *layerFlags) addSet(c *cobra.Command) {
	// A StringSlice would split values at commas.
	c.Flags().StringArrayVarP(&f.sets, "set", "s", nil, "setting `NAME=VALUE`")
	completeFlag(c, "set", completeSetting)
}

func (f *layerFlags) addConfig(c *cobra.Command) {
	c.Flags().StringVar(&f.config, "config", "", "config `FILE` in place of ./crawl.yaml")
}

// layers puts the layers together. spec may be the zero value for no spider;
// short are the settings that have flags of their own, which win over -s.
func (f *layerFlags) layers(sys *system, spec crawl.Spec, short map[string]string) *settings.Builder {
	b := settings.New()
	for _, add := range f.each(sys, spec) {
		add(b)
	}
	for _, name := range slices.Sorted(maps.Keys(short)) {
		if short[name] != "" {
			b.Assign(name + "=" + short[name])
		}
	}
	return b
}

// each returns what adds each layer to a builder, lowest first.
func (f *layerFlags) each(sys *system, spec crawl.Spec) []func(*settings.Builder) {
	return []func(*settings.Builder){
		func(b *settings.Builder) {
			if file, ok := f.configFile(sys); ok {
				b.File(file)
			}
		},
		func(b *settings.Builder) { b.Spider(spec.Name, spec.Settings).Configure(spec.Name, spec.Configure) },
		func(b *settings.Builder) { b.Environ(ownEnviron(sys.Environ)) },
		func(b *settings.Builder) {
			for _, s := range f.sets {
				b.Assign(s)
			}
		},
	}
}

func (f *layerFlags) configFile(sys *system) (string, bool) {
	if f.config != "" {
		return f.config, true
	}
	return settings.FindFile(sys.Dir)
}

// completeFlag completes the values of a flag in the shell.
func completeFlag(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist
	}
}

// completeSetting completes NAME=VALUE: first the name, then the value if only a
// few are good.
func completeSetting(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	name, _, valued := strings.Cut(typed, "=")
	var list []cobra.Completion
	for d := range settings.Default().Defs() {
		switch {
		case d.Status == settings.Unsupported:
		case valued && d.Name == name:
			return completeValue(d), cobra.ShellCompDirectiveNoFileComp
		case !valued && strings.HasPrefix(d.Name, typed):
			list = append(list, cobra.CompletionWithDesc(d.Name+"=", d.Help))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func completeValue(d settings.Def) []cobra.Completion {
	values := d.Choices
	if _, ok := d.Default.(bool); ok {
		values = []string{"True", "False"}
	}
	var list []cobra.Completion
	for _, v := range values {
		if v == "" {
			v = "None"
		}
		list = append(list, d.Name+"="+v)
	}
	return list
}

// valuesOf completes a flag that is short for a setting.
func valuesOf(setting string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list, directive := completeSetting(c, args, setting+"=")
		for i := range list {
			list[i] = strings.TrimPrefix(list[i], setting+"=")
		}
		return list, directive
	}
}

// completeArg completes the arguments of the spider that was named before.
func completeArg(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	if len(args) > 0 && !strings.Contains(typed, "=") {
		if spec, err := crawl.FindSpec(args[0]); err == nil {
			for _, a := range spec.Args() {
				list = append(list, cobra.CompletionWithDesc(a.Name+"=", a.Doc))
			}
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
