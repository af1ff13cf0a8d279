package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/settings"
)

// crawlFlags are the flags of a crawl as they were given.
type crawlFlags struct {
	layerFlags
	args                      []string
	appends, overwrites       []string
	level, logFile, logFormat string
	noLog, noProgress         bool
}

// newCrawl returns the command that runs a spider: the root, and its long form
// `crawl crawl SPIDER`.
func newCrawl(sys *system, use string) *cobra.Command {
	var f crawlFlags
	c := &cobra.Command{
		Use:               use,
		Short:             "Runs a spider; the word may be left out",
		Args:              oneSpider,
		ValidArgsFunction: completeSpider,
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), sys, c.Root(), args[0])
		},
	}
	// A StringSlice would split values at commas.
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&f.args, "arg", "a", nil, "argument `NAME=VALUE` of the spider")
	f.addSet(c)
	flags.StringArrayVarP(&f.appends, "output", "o", nil, "append the items to `FILE`[:FORMAT], - is stdout")
	flags.StringArrayVarP(&f.overwrites, "overwrite-output", "O", nil, "the same, but replace what `FILE` holds")
	flags.StringVarP(&f.level, "loglevel", "L", "", "least `LEVEL` of log lines (INFO)")
	flags.StringVar(&f.logFormat, "log-format", "", "`FORM` of the log: text or json")
	flags.StringVar(&f.logFile, "logfile", "", "append the log to `FILE`")
	flags.BoolVar(&f.noLog, "nolog", false, "no log at all")
	flags.BoolVar(&f.noProgress, "no-progress", false, "no status line on a terminal")
	f.addConfig(c)
	completeFlag(c, "arg", completeArg)
	completeFlag(c, "loglevel", valuesOf("LOG_LEVEL"))
	completeFlag(c, "log-format", valuesOf("LOG_FORMAT"))
	return c
}

func oneSpider(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usageError{errors.New("which spider? (crawl list shows all)")}
	case 1:
		return nil
	}
	return usageError{fmt.Errorf("one spider at a time, got %s", strings.Join(args, ", "))}
}

// completeSpider completes the name of a spider in the shell.
func completeSpider(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	if len(args) == 0 {
		for spec := range crawl.Specs() {
			names = append(names, cobra.CompletionWithDesc(spec.Name, spec.Doc))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// run crawls with one spider until it ends.
func (f *crawlFlags) run(ctx context.Context, sys *system, root *cobra.Command, spider string) (err error) {
	opts, warnings, err := f.options(sys, root, spider)
	if err == nil {
		err = checkLogFile(opts)
	}
	t, to := f.terminal(sys), logTarget{}
	if err == nil {
		to, err = openLog(sys, t.err, opts.Settings)
	}
	if err != nil {
		return configError{errors.Join(tell(sys, warnings), err)}
	}
	defer func() {
		if cerr := to.close(); cerr != nil {
			err = cmp.Or(err, fmt.Errorf("close the log: %w", cerr))
		}
	}()
	opts.Log, opts.Stdout = newLog(to, opts.Settings), t.out
	if sys.GoLog != nil {
		sys.GoLog(goLog{opts.Log.With().Str(crawl.LogComponent, "go").Logger()})
	}
	log := opts.Log.With().Str(crawl.LogComponent, "settings").Logger()
	for _, w := range warnings {
		log.Warn().Msg(w.String())
	}
	defer tuneGC(sys)()
	return crawlOnce(ctx, sys, opts, t.screen)
}

// checkLogFile refuses a log that would spoil the job or a feed.
func checkLogFile(opts engine.Options) error {
	log := opts.Settings.String("LOG_FILE")
	if log == "" {
		return nil
	}
	if dir := opts.Settings.JobDir(opts.Spec.Name); dir != "" && jobs.Owns(dir, log) {
		return fmt.Errorf("LOG_FILE %s is a file of the job directory itself", log)
	}
	path, err := filepath.Abs(log)
	if err != nil {
		return fmt.Errorf("LOG_FILE %s: %w", log, err)
	}
	for _, t := range opts.Feeds {
		if feed, err := filepath.Abs(t.Path); t.Path != "" && err == nil && feed == path {
			return fmt.Errorf("LOG_FILE %s is a feed", log)
		}
	}
	return nil
}

// crawlOnce crawls. It shows on the screen, unless that is nil, how it goes on.
func crawlOnce(ctx context.Context, sys *system, opts engine.Options, s *screen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := newStopper(sys, opts.Log, cancel)
	e, err := engine.New(opts)
	if err != nil {
		stop.close()
		return err
	}
	stop.onCut(e.Cut)
	var p *progress
	if s != nil {
		p = newProgress(s, e)
	}
	result, err := e.Run(ctx)
	p.close()
	return cmp.Or(err, judge(result, stop.close()))
}

// A terminal is the streams of a crawl, and the screen if there is one.
type terminal struct {
	screen   *screen
	out, err io.Writer
}

// terminal puts a screen between the crawl and standard error, if that is a
// terminal with a last line to write to.
func (f *crawlFlags) terminal(sys *system) terminal {
	t := terminal{out: sys.Stdout, err: sys.Stderr}
	if f.noProgress || !sys.Terminal || getenv(sys.Environ, "TERM") == "dumb" {
		return t
	}
	t.screen = &screen{w: sys.Stderr}
	t.err = t.screen.over(sys.Stderr)
	if sys.OutTerminal {
		t.out = t.screen.over(sys.Stdout)
	}
	return t
}

// options reads everything that was given. All that is wrong is returned at
// once, so that nobody has to mend one mistake a run; the warnings beside it too.
func (f *crawlFlags) options(sys *system, root *cobra.Command, spider string) (engine.Options, []settings.Warning, error) {
	opts := engine.Options{Stdin: sys.Stdin}
	spec, err := findSpec(root, spider)
	errs := []error{err}
	opts.Spec = spec
	opts.Args, err = parseArgs(f.args)
	errs = append(errs, err)
	opts.Feeds, err = f.targets()
	errs = append(errs, err)
	set, warnings, err := f.settings(sys, spec)
	errs = append(errs, err)
	opts.Settings = set
	if err := errors.Join(errs...); err != nil {
		return opts, warnings, errors.Join(err, argErrors(spec, opts.Args))
	}
	return opts, warnings, nil
}

// argErrors finds what the engine would complain about in the next run.
func argErrors(spec crawl.Spec, args map[string]string) error {
	if spec.New == nil {
		return nil
	}
	_, errs := spec.Build(args)
	return errors.Join(errs...)
}

// findSpec looks a spider up. What is near may be a command, too.
func findSpec(root *cobra.Command, name string) (crawl.Spec, error) {
	spec, err := crawl.FindSpec(name)
	var unknown *crawl.UnknownSpiderError
	if errors.As(err, &unknown) && unknown.Nearest == "" {
		unknown.Nearest = settings.Nearest(name, maps.Keys(commandNames(root)))
	}
	return spec, err
}

// parseArgs reads NAME=VALUE pairs; of two values for one name the later one
// counts.
func parseArgs(list []string) (map[string]string, error) {
	args := map[string]string{}
	var errs []error
	for _, arg := range list {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			errs = append(errs, fmt.Errorf("-a %s: want NAME=VALUE", arg))
			continue
		}
		args[name] = value
	}
	return args, errors.Join(errs...)
}

func (f *crawlFlags) targets() ([]feeds.Target, error) {
	var all []feeds.Target
	var errs []error
	add := func(list []string, overwrite bool) {
		for _, s := range list {
			t, err := feeds.ParseTarget(s)
			t.Overwrite = overwrite
			all, errs = append(all, t), append(errs, err)
		}
	}
	add(f.appends, false)
	add(f.overwrites, true)
	return all, errors.Join(errs...)
}

// settings puts the layers together.
func (f *crawlFlags) settings(sys *system, spec crawl.Spec) (*settings.Settings, []settings.Warning, error) {
	short := map[string]string{"LOG_LEVEL": f.level, "LOG_FILE": f.logFile, "LOG_FORMAT": f.logFormat}
	if f.noLog {
		short["LOG_ENABLED"] = "False"
	}
	return f.layers(sys, spec, short).Build()
}
