package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
)

// run is the program: it does what the arguments say and returns the exit code.
func run(sys *system) int {
	root := newRoot(sys)
	if err := checkNames(root); err != nil {
		return finish(sys.Stderr, root.CommandPath(), err)
	}
	called, err := root.ExecuteContextC(context.Background())
	return finish(sys.Stderr, called.CommandPath(), err)
}

func newRoot(sys *system) *cobra.Command {
	root := newCrawl(sys, "crawl SPIDER")
	root.Short = "Runs spiders"
	root.Long = "Runs spiders. Items go to the feeds, the log goes to standard error."
	root.Example = rootExamples
	root.Version = versionText(sys)
	root.SetVersionTemplate("{{.Version}}")
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(pipe{sys.Stdout})
	root.SetErr(sys.Stderr)
	root.SetHelpCommand(newHelp())
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.Name() != "crawl" || !helpOfSpider(c, c.Flags().Args()) {
			help(c, args)
		}
	})
	root.AddCommand(
		newCrawl(sys, "crawl SPIDER"), newList(sys), newSettings(sys), newStartProject(sys), newGenSpider(sys),
		newDemo(sys), newJob(sys), newVersion(sys), newExitCodes(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetArgs(sys.Args)
	return root
}

const rootExamples = `  crawl quotes -o quotes.jsonl -a site=http://127.0.0.1:8000/ -s RETRY_TIMES=5
  crawl quotes -s JOBDIR=crawls/q   # Ctrl-C, then the same again: it goes on`

// usageTemplate is shorter than cobra's, so that the help fits a screen.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand .IsAdditionalHelpTopicCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
`

// checkNames refuses a spider that could never be run by its name alone.
func checkNames(root *cobra.Command) error {
	commands := commandNames(root)
	var errs []error
	for spec := range crawl.Specs() {
		if commands[spec.Name] {
			errs = append(errs, fmt.Errorf("a spider is registered as %q, which is a command: give it another name", spec.Name))
		}
		if strings.HasPrefix(spec.Name, "-") {
			errs = append(errs, fmt.Errorf("a spider is registered as %q, which looks like a flag: give it another name", spec.Name))
		}
	}
	if len(errs) > 0 {
		return configError{errors.Join(errs...)}
	}
	return nil
}

func commandNames(root *cobra.Command) map[string]bool {
	names := map[string]bool{}
	for _, c := range root.Commands() {
		names[c.Name()] = true
	}
	return names
}

// noArgs refuses arguments of a command that takes none.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, got %q", c.CommandPath(), args[0])}
	}
	return nil
}

// pipe is a stream of plain text whose reader may go away without harm, as that
// of `crawl list | head -1` does.
type pipe struct{ w io.Writer }

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	return n, err
}
