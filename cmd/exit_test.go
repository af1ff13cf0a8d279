package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/jobs"
)

func TestCodeOf(t *testing.T) {
	t.Parallel()
	arg := &crawl.ArgError{Spider: "shop", Arg: "x", Reason: "is not known"}
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"nothing":           {nil, 0},
		"unknown":           {errors.New("disk full"), 1},
		"failed":            {failedError{"start_error"}, 1},
		"flags":             {usageError{errors.New("unknown flag")}, 2},
		"settings":          {configError{errors.New("bad")}, 2},
		"engine's":          {fmt.Errorf("start: %w", &engine.ConfigError{Err: arg}), 2},
		"job unfit":         {jobError{errors.New("other fingerprints")}, 3},
		"the answer no":     {noError{}, 1},
		"job in use":        {fmt.Errorf("JOBDIR x: %w", &jobs.InUseError{Dir: "x"}), 3},
		"job of another":    {&jobs.MismatchError{}, 3},
		"job damaged":       {errors.Join(&jobs.DamageError{}, errors.New("close")), 3},
		"job not a job":     {&jobs.ForeignError{}, 3},
		"job newer":         {&jobs.VersionError{}, 3},
		"job not writable":  {&jobs.AccessError{Err: syscall.EROFS}, 3},
		"interrupted":       {interruptedError{os.Interrupt}, 130},
		"terminated":        {interruptedError{syscall.SIGTERM}, 143},
		"interrupted wraps": {fmt.Errorf("x: %w", interruptedError{syscall.SIGTERM}), 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := codeOf(tc.err); got != tc.want {
				t.Errorf("codeOf(%v) = %d, want %d", tc.err, got, tc.want)
			}
		})
	}
}

// browsertrix-crawler#683: each kind of end has its exit code.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		result engine.Result
		first  os.Signal
		want   int
	}{
		{engine.Result{Reason: "finished"}, nil, 0},
		{engine.Result{Reason: "finished"}, os.Interrupt, 0}, // it came too late to change anything
		{engine.Result{Reason: "finished", NoResponse: true}, nil, 1},
		{engine.Result{Reason: "closespider_pagecount"}, nil, 0},
		{engine.Result{Reason: "closespider_itemcount"}, nil, 0},
		{engine.Result{Reason: "closespider_timeout"}, nil, 0},
		{engine.Result{Reason: "closed_pipe"}, nil, 0},
		{engine.Result{Reason: "the spider's own"}, nil, 0},
		{engine.Result{Reason: "closespider_errorcount"}, nil, 1},
		{engine.Result{Reason: "memusage_exceeded"}, nil, 1},
		{engine.Result{Reason: "start_error"}, nil, 1},
		{engine.Result{Reason: "shutdown"}, os.Interrupt, 130},
		{engine.Result{Reason: "shutdown"}, syscall.SIGTERM, 143},
		{engine.Result{Reason: "shutdown", NoResponse: true}, syscall.SIGTERM, 143},
		{engine.Result{Reason: "shutdown"}, nil, 1}, // LOOP-16
	} {
		if got := codeOf(judge(tc.result, tc.first)); got != tc.want {
			t.Errorf("judge(%+v, %v) leads to exit code %d, want %d", tc.result, tc.first, got, tc.want)
		}
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"nothing":     {nil, ""},
		"interrupted": {interruptedError{os.Interrupt}, ""},
		"one":         {errors.New("disk full"), "crawl: disk full\n"},
		"several":     {configError{errors.Join(errors.New("a"), errors.New("b"))}, "crawl: a\ncrawl: b\n"},
		"usage":       {usageError{errors.New("unknown flag")}, "crawl: unknown flag\ncrawl: see crawl --help\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			finish(&b, "crawl", tc.err)
			if b.String() != tc.want {
				t.Errorf("finish wrote %q, want %q", b.String(), tc.want)
			}
		})
	}
}

// TestExitCodesDoc holds that the help and docs/exit-codes.md have the same
// codes.
func TestExitCodesDoc(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(doc), "## Signals")
	var got, want []string
	for line := range strings.Lines(table) {
		cell, _, _ := strings.Cut(line, " | ")
		if code, ok := strings.CutPrefix(cell, "| "); ok && code != "code" {
			got = append(got, code)
		}
	}
	for _, row := range exitCodes() {
		want = append(want, fmt.Sprint(row.code))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("docs/exit-codes.md has the codes %v, want %v", got, want)
	}
}
