package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Shows the help of a command or a topic",
		RunE: func(c *cobra.Command, args []string) error {
			about := c.Root()
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
