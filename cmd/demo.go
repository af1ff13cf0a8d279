package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/demo"
	"github.com/skeincrawl/skein/spiders/quotes"
)

// registerDemo adds the spider of the demonstration, unless the program has one
// of that name.
func registerDemo() {
	if _, err := crawl.FindSpec(quotes.Name); err != nil {
		crawl.Register(quotes.Spec())
	}
}

func newDemo(sys *system) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Serves a small site to try a crawler on",
		Long: "Serves a small site on this machine, for the spider quotes: pages of quotes,\n" +
			"their authors, a login, /slow, and /fail, which fails twice and then answers.\n" +
			"Its address is the first line of standard output. Ctrl-C ends it.",
		Example: "  crawl demo &\n  crawl quotes -o -",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return serveDemo(c.Context(), sys, listen) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8000", "`ADDRESS`; port 0 is any")
	return c
}

// serveDemo serves until the first signal, which is the ordinary way to end it.
// The third leaves at once, as everywhere.
func serveDemo(ctx context.Context, sys *system, listen string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return usageError{fmt.Errorf("--listen %s: %w", listen, err)}
	}
	if _, err := fmt.Fprintf(pipe{sys.Stdout}, "http://%s/\n", l.Addr()); err != nil {
		return fmt.Errorf("tell the address: %w", errors.Join(err, l.Close()))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := newStopper(sys, zerolog.Nop(), cancel)
	defer stop.close()
	return demo.New().Serve(ctx, l)
}
