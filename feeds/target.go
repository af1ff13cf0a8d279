package feeds

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Target is a feed as the user names it.
type Target struct {
	// URI is what messages call the feed: the user's own words without the
	// format. %(time)s in it stands for the time of the start, %(name)s for the
	// name of the spider.
	URI string

	// Path is the local file, with the same placeholders. It is empty for
	// standard output.
	Path string

	// Format is a name of [Exporters].
	Format string

	// Overwrite replaces what the file holds (-O); else it is continued (-o).
	Overwrite bool

	// Form is how the feed looks; nil for the form of all feeds.
	Form *Form
}

// expand fills in the placeholders.
func (t Target) expand(spider string, at time.Time) Target {
	r := strings.NewReplacer("%(time)s", at.UTC().Format("2006-01-02T15-04-05"), "%(name)s", spider)
	t.URI, t.Path = r.Replace(t.URI), r.Replace(t.Path)
	return t
}

// place is the name by which a job knows the feed.
func (t Target) place() string {
	if t.Path == "" {
		return "stdout:"
	}
	return resolve(t.Path)
}

// samePlace reports whether a feed is the same file.
func (t Target) samePlace(f *feed) bool {
	if t.place() == f.name {
		return true
	}
	info, err := os.Stat(t.Path)
	was, wasErr := os.Stat(f.Path)
	return err == nil && wasErr == nil && os.SameFile(info, was)
}

// A TargetError is a feed that can not be used as it was asked for.
type TargetError struct {
	Target string // as the user wrote it
	Err    error
}

// Error names the feed and says what is wrong.
func (e *TargetError) Error() string { return fmt.Sprintf("feed %q: %v", e.Target, e.Err) }

// Unwrap returns the cause.
func (e *TargetError) Unwrap() error { return e.Err }

// ParseTarget reads F[:format], the argument of -o and -O. F is a path, a file
// URI, or "-" or "stdout:" for standard output. What follows the last colon is
// the format if there is a format of that name; else the extension of the file
// tells it. Standard output is in JSON Lines by default. The error is a
// [TargetError].
func ParseTarget(s string) (Target, error) {
	t, err := parseTarget(s)
	if err != nil {
		return Target{}, &TargetError{Target: s, Err: err}
	}
	return t, nil
}

func parseTarget(s string) (Target, error) {
	t := Target{URI: s}
	if rest, format, ok := cutFormat(s); ok {
		t.URI, t.Format = rest, format
	}
	return t.complete()
}

// complete finds the path, and the format if it is not given.
func (t Target) complete() (Target, error) {
	switch t.URI {
	case "":
		return t, errors.New("it names no file")
	case "-", "stdout", "stdout:":
		if t.URI == "stdout" && t.Format == "" {
			break // a file of that name
		}
		t.URI = "stdout:"
		if t.Format == "" {
			t.Format = "jsonlines"
		}
		return t, nil
	}
	var err error
	if t.Path, err = localPath(t.URI); err != nil {
		return t, err
	}
	if t.Format == "" {
		t.Format, err = formatOf(t.Path)
	}
	return t, err
}

// cutFormat splits s at its last colon if a known format follows.
func cutFormat(s string) (rest, format string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	format = strings.ToLower(s[i+1:])
	if _, err := Exporters.Lookup(format); err != nil {
		return s, "", false
	}
	return s[:i], format, true
}

// formatOf tells the format by the extension, or what could be written instead.
func formatOf(path string) (string, error) {
	name := filepath.Base(path)
	ext := filepath.Ext(name)
	if ext == "" || ext == name || ext == "." {
		return "", fmt.Errorf("its name does not tell the format: write %s:jsonlines, or one of %s", path, formats())
	}
	ext = ext[1:]
	if i := strings.LastIndexByte(ext, ':'); i >= 0 {
		ext = ext[i+1:] // a format was meant
	}
	format := strings.ToLower(ext)
	if _, err := Exporters.Lookup(format); err != nil {
		return "", err
	}
	return format, nil
}

func formats() string {
	return strings.Join(slices.Collect(Exporters.Names()), ", ")
}

var (
	uriScheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):/`)
	// placeholder is Scrapy's %(name)s and its relatives.
	placeholder = regexp.MustCompile(`%\([A-Za-z_]+\)[-0-9]*[sd]`)
)

// checkPlaceholders refuses those that nothing is known for. Another % stands
// for itself.
func checkPlaceholders(s string) error {
	for _, p := range placeholder.FindAllString(s, -1) {
		if p != "%(time)s" && p != "%(name)s" {
			return fmt.Errorf("nothing is known to fill in for %s: there are %%(time)s and %%(name)s", p)
		}
	}
	return nil
}

// localPath returns the path that a name or a file URI means.
func localPath(s string) (string, error) {
	if err := checkPlaceholders(s); err != nil {
		return "", err
	}
	m := uriScheme.FindStringSubmatch(s)
	if m == nil {
		if last := s[len(s)-1]; os.IsPathSeparator(last) {
			return "", errors.New("it names a directory")
		}
		return filepath.Clean(s), nil
	}
	if !strings.EqualFold(m[1], "file") {
		return "", fmt.Errorf("there is no storage for %s: feeds go to local files and standard output", m[1])
	}
	u, err := url.Parse(strings.ReplaceAll(s, "%(", "%25(")) // placeholders are no escapes
	switch {
	case err != nil:
		return "", err
	case u.Host != "" && !strings.EqualFold(u.Host, "localhost"):
		return "", fmt.Errorf("the file is on host %s: a local file has three slashes, file:///%s", u.Host, strings.TrimPrefix(u.Path, "/"))
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("a file URI has no query and no fragment: write ? as %3F and # as %23")
	case u.Path == "" || strings.HasSuffix(u.Path, "/"):
		return "", errors.New("it names a directory")
	}
	return fromURIPath(u.Path, runtime.GOOS), nil
}

// fromURIPath takes the slash before a drive letter away.
func fromURIPath(path, goos string) string {
	if goos == "windows" && len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}
