package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// start opens a spider and runs its Start.
func (r *run) start(t *testing.T, s *Spider) ([]string, error) {
	t.Helper()
	if err := s.Open(t.Context(), &r.Env); err != nil {
		t.Fatal(err)
	}
	var c crawl.Collector
	err := s.Start(t.Context(), crawl.NewOut(t.Context(), nil, &c, nil))
	for _, req := range c.Requests {
		if !req.DontFilter {
			t.Errorf("start request %v is filtered", req)
		}
	}
	return urls(c.Requests), err
}

func TestStartList(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		start string
		want  []string
	}{
		{"https://a.test", []string{"https://a.test/"}},
		{"http://a/?x=1,2,https://b/", []string{"http://a/?x=1,2", "https://b/"}},
		{" https://a.test/x , http://b.test/?u=1,a:2 ", []string{"https://a.test/x", "http://b.test/?u=1,a:2"}},
		{"https://a.test/,file:///data/x.html", []string{"https://a.test/", "file:///data/x.html"}},
		{"https://a.test/ä?q=ö", []string{"https://a.test/%C3%A4?q=%C3%B6"}},
	} {
		got, err := newRun().start(t, build(t, args{"start": tc.start}))
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("start=%s: got %q, %v, want %q", tc.start, got, err, tc.want)
		}
	}
}

func TestStartFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "urls.txt")
	text := "\ufeffhttps://a.test/1\r\n\n  # comment\n\thttps://a.test/2,3 \nnot a url\nhttps://a.test/4"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRun()
	got, err := r.start(t, build(t, args{"start": "@" + file}))
	want := []string{"https://a.test/1", "https://a.test/2,3", "https://a.test/4"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if log := r.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "Ignored line 5 of "+file+": ") {
		t.Errorf("log: %s", log)
	}
	if n := r.Stats.Count("site/invalid_start_urls"); n != 1 {
		t.Errorf("site/invalid_start_urls = %d, want 1", n)
	}
}

func TestStartWarnsAFewTimes(t *testing.T) {
	t.Parallel()
	r := newRun()
	r.Stdin = strings.NewReader("https://a.test/\n" + strings.Repeat("junk\n", 500))
	if _, err := r.start(t, build(t, args{"start": "-"})); err != nil {
		t.Fatal(err)
	}
	if log := r.log.String(); strings.Count(log, "\n") != maxWarnings+1 || !strings.Contains(log, "Ignored 490 more lines of standard input") {
		t.Errorf("log: %s", log)
	}
}

func TestStartLineTooLong(t *testing.T) {
	t.Parallel()
	r := newRun()
	r.Stdin = strings.NewReader("https://a.test/1\nhttps://a.test/" + strings.Repeat("x", maxLine))
	got, err := r.start(t, build(t, args{"start": "-"}))
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "from standard input after line 1") {
		t.Errorf("got %d URLs, %v", len(got), err)
	}
}

// endless makes lines without end, and remembers how much of it was read.
type endless struct{ lines int }

func (e *endless) Read(p []byte) (int, error) {
	e.lines++
	return copy(p, fmt.Appendf(nil, "https://a.test/%d\n", e.lines)), nil
}

// stopAfter is a step that stops the crawl.
type stopAfter struct {
	left int
	got  []*crawl.Request
}

func (s *stopAfter) Emit(_ context.Context, v any) error {
	if s.left == 0 {
		return fmt.Errorf("emit: %w", crawl.ErrStopped)
	}
	s.left--
	s.got = append(s.got, v.(*crawl.Request))
	return nil
}

// Lines are emitted as they are read: a list may be longer than memory.
func TestStartIsLazyAndStops(t *testing.T) {
	t.Parallel()
	r, in := newRun(), &endless{}
	r.Stdin = in
	s := build(t, args{"start": "-"})
	if err := s.Open(t.Context(), &r.Env); err != nil {
		t.Fatal(err)
	}
	if in.lines != 0 {
		t.Errorf("Open has read %d lines", in.lines)
	}
	step := &stopAfter{left: 100}
	if err := s.Start(t.Context(), crawl.NewOut(t.Context(), nil, step, nil)); !errors.Is(err, crawl.ErrStopped) {
		t.Errorf("Start: %v, want ErrStopped", err)
	}
	if len(step.got) != 100 || in.lines > 102 {
		t.Errorf("%d requests from %d reads", len(step.got), in.lines)
	}
}

func TestStartGivesUpAWaitingRead(t *testing.T) {
	t.Parallel()
	in, feed := io.Pipe()
	defer func() { _ = feed.Close() }()
	for _, jobDir := range []string{"", t.TempDir()} {
		r := newRun()
		r.Stdin, r.JobDir = in, jobDir
		s := build(t, args{"start": "-"})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			err := s.Open(ctx, &r.Env)
			if err == nil {
				err = s.Start(ctx, crawl.NewOut(ctx, nil, &crawl.Collector{}, nil))
			}
			done <- err
		}()
		cancel(errors.New("interrupted"))
		if err := <-done; !errors.Is(err, crawl.ErrStopped) || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("JobDir %q: %v, want ErrStopped", jobDir, err)
		}
		if jobDir != "" {
			if left, _ := os.ReadDir(jobDir); len(left) != 0 {
				t.Errorf("the job directory holds %v", left)
			}
		}
	}
}

// Without a job the hosts to stay on become known as the URLs come.
func TestStreamStaysOnItsHosts(t *testing.T) {
	t.Parallel()
	r := newRun()
	r.Stdin = strings.NewReader("https://site.test/\n")
	s := build(t, args{"start": "-"})
	if _, err := r.start(t, s); err != nil {
		t.Fatal(err)
	}
	if d := s.AllowedDomains(); d != nil {
		t.Errorf("AllowedDomains = %q, want none: they are not known yet", d)
	}
	got := parse(t, s, page(`<a href="/a">a</a><a href="//www.site.test/b">b</a><a href="//mysite.test/c">c</a><a href="//test/d">d</a>`))
	if want := []string{"https://site.test/a", "https://www.site.test/b"}; !slices.Equal(urls(got.Requests), want) {
		t.Errorf("got %q, want %q", urls(got.Requests), want)
	}
}

func TestEmptyStream(t *testing.T) {
	t.Parallel()
	r := newRun()
	r.Stdin = strings.NewReader("\n")
	if _, err := r.start(t, build(t, args{"start": "-"})); err == nil || !strings.Contains(err.Error(), "standard input has no URL") {
		t.Errorf("got %v", err)
	}
}

// noStdin fails the test when it is read.
type noStdin struct{ t *testing.T }

func (n noStdin) Read([]byte) (int, error) {
	n.t.Error("standard input was read again")
	return 0, io.EOF
}

func TestJobKeepsStdin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spool := filepath.Join(dir, "start.txt")
	want := []string{"https://a.test/1", "https://b.test/2"}
	first := newRun()
	first.JobDir, first.Stdin = dir, strings.NewReader(strings.Join(want, "\n")+"\n")
	s := build(t, args{"start": "-"})
	got, err := first.start(t, s)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("first run: %q, %v", got, err)
	}
	if info, err := os.Stat(spool); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("start.txt: %v, %v", info, err)
	}

	resumed := newRun()
	resumed.JobDir, resumed.Stdin, resumed.Resumed = dir, noStdin{t}, true
	s = build(t, args{"start": "-"})
	if got, err = resumed.start(t, s); err != nil || !slices.Equal(got, want) {
		t.Errorf("resumed run: %q, %v", got, err)
	}
	if d := s.AllowedDomains(); !slices.Equal(d, []string{"a.test", "b.test"}) {
		t.Errorf("AllowedDomains = %q", d)
	}
	if !bytes.Contains(resumed.log.Bytes(), []byte("standard input is not read again")) {
		t.Errorf("log: %s", resumed.log.String())
	}

	again := newRun()
	again.JobDir, again.Stdin = dir, strings.NewReader("https://c.test/\n")
	if got, err = again.start(t, build(t, args{"start": "-"})); err != nil || !slices.Equal(got, []string{"https://c.test/"}) {
		t.Errorf("a new round: %q, %v, want what standard input holds now", got, err)
	}
}

func TestJobKeepsNoUselessStdin(t *testing.T) {
	t.Parallel()
	r := newRun()
	r.JobDir, r.Stdin = t.TempDir(), strings.NewReader("junk\n")
	err := build(t, args{"start": "-"}).Open(t.Context(), &r.Env)
	var ae *crawl.ArgError
	if !errors.As(err, &ae) || !strings.Contains(err.Error(), "standard input has no usable URL: line 1") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(r.JobDir); len(left) != 0 {
		t.Errorf("the job directory holds %v", left)
	}
}

func FuzzStart(f *testing.F) {
	for _, s := range []string{"https://a.test/", "http://a/?x=1,2,https://b/", "a.test", "-", "@x", "data:,x", "http://[::1]/,ftp://x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		s, err := parseStart(arg)
		if err != nil {
			return
		}
		if !s.stdin && s.file == "" && len(s.list) == 0 {
			t.Errorf("%q gives nothing and no error", arg)
		}
		for _, u := range s.list {
			if again, err := startURL(u); err != nil || again != u {
				t.Errorf("%q: %q is normalised to %q, %v", arg, u, again, err)
			}
		}
	})
}

func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"a":"h1"}`, `{}`, `{"a":"h1","b":"p::text"}`, `{"a":1}`, `[`, `{"a":"h1"}{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		fields, err := parseFields(arg)
		if err != nil {
			return
		}
		for _, fd := range fields {
			if err := crawl.CompileCSS(fd.selector); err != nil {
				t.Errorf("%q: field %q: %v", arg, fd.name, err)
			}
		}
	})
}
