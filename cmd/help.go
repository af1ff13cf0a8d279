package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
)

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|SPIDER]",
		Short: "Shows the help of a command, a spider or a topic",
		RunE: func(c *cobra.Command, args []string) error {
			about := c.Root()
			if helpOfSpider(c, args) {
				return nil
			}
			for _, name := range args {
				sub, _, err := about.Find([]string{name})
				if err != nil || sub == about {
					return usageError{fmt.Errorf("there is no command and no topic %q", strings.Join(args, " "))}
				}
				about = sub
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// helpOfSpider writes what the spider does that args name, and takes, if they
// name one.
func helpOfSpider(c *cobra.Command, args []string) bool {
	if len(args) == 0 {
		return false
	}
	spec, err := crawl.FindSpec(args[0])
	if err != nil {
		return false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", spec.Name)
	describe(&b, spec)
	fmt.Fprintf(&b, "\nRun it with: crawl %s [flags]; crawl --help shows the flags.\n", spec.Name)
	c.Print(b.String())
	return true
}

// newExitCodes is a topic of the help: a command that only has a text.
func newExitCodes() *cobra.Command {
	var b strings.Builder
	b.WriteString("Exit codes of crawl:\n\n")
	for _, row := range exitCodes() {
		fmt.Fprintf(&b, "%5d  %s\n", row.code, row.meaning)
	}
	c := &cobra.Command{Use: "exit-codes", Short: "Topic: what the exit codes mean", Long: b.String()}
	c.SetHelpTemplate("{{.Long}}")
	return c
}
