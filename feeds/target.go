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
)

// A Target is a feed as the user names it.
type Target struct {
	// URI is what messages call the feed: the user's own words without the
	// format.
	URI string

	// Path is the local file. It is empty for standard output.
	Path string

	// Format is a name of [Exporters].
	Format string

	// Overwrite replaces what the file holds (-O); else it is continued (-o).
	Overwrite bool
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

// localPath returns the path that a name or a file URI means.
func localPath(s string) (string, error) {
	if p := placeholder.FindString(s); p != "" {
		return "", fmt.Errorf("placeholders such as %s are not filled in: let the shell do it, for example out-$(date +%%F).jsonl", p)
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
	u, err := url.Parse(s)
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
