package cmd

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"text/template"

	"github.com/spf13/cobra"
)

//go:embed templates
var templates embed.FS

// projectFiles are the files of a new project and their templates.
var projectFiles = [][2]string{ //nolint:gochecknoglobals // a table that never changes
	{"go.mod", "go.mod.tmpl"},
	{"main.go", "main.go.tmpl"},
	{"crawl.yaml", "crawl.yaml.tmpl"},
	{"Dockerfile", "Dockerfile.tmpl"},
	{".dockerignore", "dockerignore.tmpl"},
	{".gitignore", "gitignore.tmpl"},
	{"spiders/doc.go", "doc.go.tmpl"},
	{"spiders/quotes.go", "quotes.go.tmpl"},
	{"spiders/quotes_test.go", "quotes_test.go.tmpl"},
}

// A project is what the templates of a new project are filled with.
type project struct {
	Module, Program string
	origin
}

func newStartProject(sys *system) *cobra.Command {
	var replace string
	c := &cobra.Command{
		Use:   "startproject NAME",
		Short: "Makes a Go module with a first spider",
		Long: "Makes the folder NAME: a Go module with a program, a spider for the site of\n" +
			"`crawl demo`, its test, settings and a Dockerfile. NAME may be a module path, as\n" +
			"example.org/shop; the folder is then shop.",
		Example: "  crawl startproject shop",
		Args:    exactly(1, "startproject takes the name of the project"),
		RunE:    func(_ *cobra.Command, args []string) error { return startProject(sys, args[0], replace) },
	}
	c.Flags().StringVar(&replace, "replace", "", "use the source of this module in `FOLDER`, not a release")
	return c
}

// exactly refuses another number of arguments.
func exactly(n int, otherwise string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("%s, got %d arguments", otherwise, len(args))}
		}
		return nil
	}
}

var moduleName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._~-]*(/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*$`)

// checkModule refuses what cannot be the path of a module.
func checkModule(name string) error {
	if !moduleName.MatchString(name) {
		return usageError{fmt.Errorf("project %q: want letters, digits, dots, hyphens and underscores, as in shop or example.org/shop", name)}
	}
	switch name {
	case "cmd", "std", "vendor", "internal", "testdata":
		return usageError{fmt.Errorf("project %q: the name has a meaning for Go; take another", name)}
	}
	return nil
}

func startProject(sys *system, name, replace string) error {
	if err := checkModule(name); err != nil {
		return err
	}
	from, err := originOf(sys, replace)
	if err != nil {
		return configError{err}
	}
	p := project{Module: name, Program: path.Base(name), origin: from}
	dir := filepath.Join(sys.Dir, p.Program)
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return configError{fmt.Errorf("project %s: %s exists already", name, dir)}
	}
	for _, f := range projectFiles {
		if err := writeTemplate(filepath.Join(dir, filepath.FromSlash(f[0])), "project/"+f[1], p); err != nil {
			return err
		}
	}
	if p.Sums != nil {
		if err := writeNew(filepath.Join(dir, "go.sum"), p.Sums); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(pipe{sys.Stdout}, p.next(dir))
	return err
}

// next tells what to do with a new project.
func (p project) next(dir string) string {
	text := fmt.Sprintf("Made the project %s. Next:\n\n  cd %s\n", p.Module, dir)
	if p.Replace == "" {
		text += "  go mod tidy\n"
	}
	return text + "  go test ./...\n  go run . demo            # a site to try it on; in a second terminal:\n  go run . quotes -o -\n"
}

// writeTemplate fills a template into a new file. Go is written as it is: the
// templates are in gofmt's form.
func writeTemplate(file, name string, data any) error {
	t, err := template.ParseFS(templates, "templates/"+name)
	if err != nil {
		return fmt.Errorf("read the template of %s: %w", file, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("fill the template of %s: %w", file, err)
	}
	return writeNew(file, b.Bytes())
}

// writeNew writes a file that must not exist.
func writeNew(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", file, err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("make %s: %w", file, err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
