package extensions

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

type counter struct{ state map[string]int }

func (*counter) Parse(context.Context, *crawl.Response, crawl.Out) error { return nil }
func (c *counter) State() any                                            { return &c.state }

type stateless struct{}

func (stateless) Parse(context.Context, *crawl.Response, crawl.Out) error { return nil }

// SER-02, SER-03: without a job nothing is written.
func TestSpiderState(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reason string
		spider       crawl.Spider
		jobDir       bool
		want         string
	}{
		{"at a clean close", "shutdown", &counter{map[string]int{"pages": 3}}, true, "{\n  \"pages\": 3\n}\n"},
		{"nothing after a failure", "frontier_error", &counter{}, true, ""},
		{"nothing without state", "finished", stateless{}, true, ""},
		{"nothing without a job", "finished", &counter{}, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			env, _ := testEnv(t)
			env.Spider = tc.spider
			if tc.jobDir {
				env.JobDir = dir
			}
			if ext := build(t, "spiderstate", env); ext != nil {
				t.Errorf("got %v to run, want nothing", ext)
			}
			for range 2 { // the file of the run before is replaced
				send(t, env, crawl.SpiderClosed{Reason: tc.reason})
			}
			got, err := os.ReadFile(filepath.Join(dir, "spider.state"))
			if err != nil && !os.IsNotExist(err) || string(got) != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 {
				t.Errorf("the directory holds %v, %v", entries, err)
			}
		})
	}
}

func TestSpiderStateThatCanNotBeWritten(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t)
	env.Spider, env.JobDir = &counter{}, filepath.Join(t.TempDir(), "missing")
	build(t, "spiderstate", env)
	if err := crawl.Send(t.Context(), env.Signals, crawl.SpiderClosed{}); err == nil {
		t.Error("got no error")
	}
}
