package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
)

func newList(sys *system) *cobra.Command {
	var verbose bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Lists the spiders of this binary",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			var b strings.Builder
			for spec := range crawl.Specs() {
				b.WriteString(spec.Name + "\n")
				if verbose {
					describe(&b, spec)
				}
			}
			_, err := pipe{sys.Stdout}.Write([]byte(b.String()))
			return err
		},
	}
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "what each does and its arguments")
	return c
}

// describe writes what a spider does and takes.
func describe(b *strings.Builder, spec crawl.Spec) {
	if spec.Doc != "" {
		fmt.Fprintf(b, "    %s\n", spec.Doc)
	}
	args, width := spec.Args(), 0
	for _, arg := range args {
		width = max(width, len(arg.Name))
	}
	for _, arg := range args {
		doc := arg.Doc
		if arg.Secret {
			doc = strings.TrimSpace(doc + " (secret)")
		}
		line := fmt.Sprintf("    -a %-*s  %s", width+1, arg.Name+"=", doc)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
