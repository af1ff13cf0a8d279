package site

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// A source is where the start URLs come from. Lists of a file are read anew each
// time, line by line: they may be longer than memory.
type source struct {
	list   []string  // of the command line
	file   string    // with one URL a line
	stdin  bool      // the argument is -
	stream io.Reader // standard input, which can be read once
}

// name is what messages call the source.
func (s source) name() string {
	if s.stdin {
		return "standard input"
	}
	return s.file
}

// beforeURL is a comma that separates URLs: one before a scheme. Others belong
// to a URL.
var beforeURL = regexp.MustCompile(`\s*,\s*([A-Za-z][A-Za-z0-9+.-]*://)`)

// parseStart reads the argument start and checks what it says itself.
func parseStart(arg string) (source, error) {
	arg = strings.TrimSpace(arg)
	file, isFile := strings.CutPrefix(arg, "@")
	switch {
	case arg == "":
		return source{}, errors.New("it is missing: give a URL, such as -a start=https://example.com/")
	case arg == "-":
		return source{stdin: true}, nil
	case isFile && file == "":
		return source{}, errors.New("@ needs the name of a file")
	case isFile:
		return source{file: file}, nil
	}
	var s source
	for text := range strings.SplitSeq(beforeURL.ReplaceAllString(arg, "\n$1"), "\n") {
		u, err := startURL(text)
		if err != nil {
			return source{}, err
		}
		s.list = append(s.list, u)
	}
	return s, nil
}

// startURL checks and normalises one URL.
func startURL(text string) (string, error) {
	text = strings.TrimSpace(text)
	scheme := weburl.Scheme(text)
	if scheme != "data" && scheme != "file" && !strings.Contains(text, "://") {
		return "", fmt.Errorf("%q is no URL: it needs a scheme, such as https://%s", clip(text), clip(text))
	}
	if scheme == "ftp" || scheme == "ws" || scheme == "wss" {
		return "", fmt.Errorf("%q has a scheme that can not be fetched: http and https can", clip(text))
	}
	u, err := weburl.Resolve("", text)
	if err != nil {
		return "", fmt.Errorf("%q is no usable URL: %w", clip(text), err)
	}
	if (scheme == "http" || scheme == "https") && weburl.Host(u) == "" {
		return "", fmt.Errorf("%q has no host", clip(text))
	}
	return u, nil
}

// each calls f with every URL of the source and its number or line, until f
// fails. Blank lines of a file and lines that begin with # are passed over.
func (s source) each(ctx context.Context, f func(line int, text string) error) error {
	if s.stream != nil {
		return eachLine(interruptible(ctx, s.stream), s.name(), f)
	}
	if s.file != "" {
		return s.eachOfFile(f)
	}
	for i, u := range s.list {
		if err := f(i+1, u); err != nil {
			return err
		}
	}
	return nil
}

func (s source) eachOfFile(f func(line int, text string) error) error {
	file, err := os.Open(s.file)
	if err != nil {
		return fmt.Errorf("read start URLs: %w", err)
	}
	return errors.Join(eachLine(file, s.name(), f), file.Close())
}

// maxLine is far more than a server takes as a URL.
const maxLine = 1 << 20

func eachLine(r io.Reader, name string, f func(line int, text string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for lines.Scan() {
		n++
		text := lines.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // some editors begin a file with it
		}
		if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
			continue
		}
		if err := f(n, text); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read start URLs from %s after line %d: %w", name, n, err)
	}
	return nil
}

// Start emits the start URLs. Lines of a list that are no URL are passed over
// with a warning.
func (s *Spider) Start(ctx context.Context, out crawl.Out) error {
	good, bad := 0, 0
	err := s.source.each(ctx, func(line int, text string) error {
		u, err := startURL(text)
		if err != nil {
			bad++
			s.warnLine(bad, line, err)
			return nil
		}
		good++
		if s.homes != nil {
			s.homes.add(u)
		}
		out.Request(&crawl.Request{URL: u, DontFilter: true})
		if errors.Is(out.Err(), crawl.ErrStopped) {
			return crawl.ErrStopped
		}
		return nil
	})
	switch {
	case err == nil && good == 0:
		return fmt.Errorf("%s has no URL to start at", s.source.name())
	case err == nil && bad > maxWarnings:
		s.log.Warn().Msgf("Ignored %d more lines of %s", bad-maxWarnings, s.source.name())
	}
	return err
}

// maxWarnings bounds the log lines about a list that is no list of URLs.
const maxWarnings = 10

func (s *Spider) warnLine(bad, line int, err error) {
	s.stats.Inc("site/invalid_start_urls")
	if bad <= maxWarnings {
		s.log.Warn().Msgf("Ignored line %d of %s: %v", line, s.source.name(), err)
	}
}
