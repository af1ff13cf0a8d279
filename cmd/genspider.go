package cmd

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/spiders/quotes"
)

// spiderTemplate is the one kind of spider that there is a template for, under
// Scrapy's name.
const spiderTemplate = "basic"

// A newSpider is what the templates of a spider are filled with.
type newSpider struct {
	Name, Type, Domain, URL string
}

func newGenSpider(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:   "genspider basic NAME DOMAIN [URL]",
		Short: "Adds a spider and its test to a project",
		Long: "Writes a spider that stays on DOMAIN, and its test, into the folder spiders of\n" +
			"the project in this folder. It starts at URL, by default https://DOMAIN/.",
		Example:           "  crawl genspider basic books books.toscrape.com",
		Args:              genSpiderArgs,
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{spiderTemplate}, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := describeSpider(c.Root(), args[1:])
			if err != nil {
				return usageError{err}
			}
			return s.write(sys)
		},
	}
}

func genSpiderArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] != spiderTemplate {
		return usageError{fmt.Errorf("genspider %s: there is no such template; there is %s", args[0], spiderTemplate)}
	}
	if len(args) != 3 && len(args) != 4 {
		return usageError{errors.New("genspider takes a template, a name, a domain, and perhaps a URL")}
	}
	return nil
}

var spiderName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)

// describeSpider reads NAME DOMAIN [URL].
func describeSpider(root *cobra.Command, args []string) (newSpider, error) {
	s := newSpider{Name: args[0], Type: typeName(args[0])}
	if !spiderName.MatchString(s.Name) {
		return s, fmt.Errorf("spider %q: want a letter and then letters, digits, dots, hyphens and underscores", s.Name)
	}
	if commandNames(root)[s.Name] {
		return s, fmt.Errorf("spider %q: that is a command; take another name", s.Name)
	}
	if _, err := crawl.FindSpec(s.Name); err == nil && s.Name != quotes.Name {
		return s, fmt.Errorf("spider %q: there is one of that name already", s.Name)
	}
	start, err := readDomain(args[1])
	if err != nil {
		return s, fmt.Errorf("domain %q: %w", args[1], err)
	}
	s.Domain, s.URL = start.Hostname(), start.String()
	if len(args) > 2 {
		u, err := url.Parse(args[2])
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return s, fmt.Errorf("URL %q: want one that begins with http:// or https:// and a host", args[2])
		}
		s.URL = args[2]
	}
	return s, nil
}

// readDomain reads a domain, or a URL on it, as people paste.
func readDomain(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.ContainsFunc(u.Host, unicode.IsSpace) || u.User != nil {
		return nil, errors.New("want one such as example.com")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// typeName makes an exported name of Go: my-shop becomes MyShop.
func typeName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-", r) })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// fileName makes a name of a file that means nothing to Go: shop_test and
// shop_windows would.
func fileName(name string) string {
	return strings.ToLower(strings.NewReplacer(".", "", "_", "", "-", "").Replace(name))
}

func (s newSpider) write(sys *system) error {
	dir := filepath.Join(sys.Dir, "spiders")
	_, merr := os.Stat(filepath.Join(sys.Dir, "go.mod"))
	if info, err := os.Stat(dir); err != nil || merr != nil || !info.IsDir() {
		return configError{errors.New("genspider: this is not the folder of a project: there has to be a go.mod and a folder spiders (crawl startproject makes one)")}
	}
	file := filepath.Join(dir, fileName(s.Name))
	for _, f := range []string{file + ".go", file + "_test.go"} {
		if _, err := os.Stat(f); err == nil {
			return configError{fmt.Errorf("genspider: %s exists already", f)}
		}
	}
	if err := writeTemplate(file+".go", spiderTemplate+"/spider.go.tmpl", s); err != nil {
		return err
	}
	if err := writeTemplate(file+"_test.go", spiderTemplate+"/spider_test.go.tmpl", s); err != nil {
		return err
	}
	_, err := fmt.Fprintf(pipe{sys.Stdout}, "Made the spider %s in %s.go and its test. Next:\n\n  go test ./spiders\n  go run . %s -o -\n", s.Name, file, s.Name)
	return err
}
