package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/jobs"
)

// The exit codes of the program.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitJob         = 3
	exitInterrupted = 130
	exitTerminated  = 143
)

// exitCode is a row of the table that `crawl help exit-codes` shows.
type exitCode struct {
	code    int
	meaning string
}

func exitCodes() []exitCode {
	return []exitCode{
		{exitOK, "finished, or ended by a planned limit (CLOSESPIDER_* but ERRORCOUNT)"},
		{exitFailed, "failed while it ran: start error, CLOSESPIDER_ERRORCOUNT, memory limit,\n       full disk, JOB_MAX_DISK, job or feed not writable, or no start URL led\n       to a response"},
		{exitUsage, "wrong flags, settings, arguments or feeds; nothing was sent"},
		{exitJob, "the job directory is unusable: in use, of another crawl, damaged,\n       of a newer version, or not writable; nothing was sent"},
		{exitInterrupted, "interrupted by SIGINT; with JOBDIR the same command goes on"},
		{exitTerminated, "interrupted by SIGTERM; with JOBDIR the same command goes on"},
	}
}

// A usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// A configError is anything else that is wrong before a crawl begins.
type configError struct{ error }

func (e configError) Unwrap() error { return e.error }

// An interrupted error is the end of a crawl by a signal. The log told of it.
type interruptedError struct{ signal os.Signal }

func (e interruptedError) Error() string { return "interrupted by " + signalName(e.signal) }

// A failedError is a crawl that ended in good order but not well.
type failedError struct{ reason string }

func (e failedError) Error() string {
	switch e.reason {
	case "disk_full":
		return "the crawl stopped: the disk of the job is full; with more room the same command goes on"
	case "job_max_disk":
		return "the crawl stopped: the job is larger than JOB_MAX_DISK; with a higher limit the same command goes on"
	}
	return "the crawl failed: " + e.reason
}

// A jobError says why a job directory can not be used for what was asked.
type jobError struct{ error }

// Is matches [jobs.ErrUnusable].
func (jobError) Is(target error) bool { return target == jobs.ErrUnusable }

// A noError is the answer no, which was written already.
type noError struct{}

func (noError) Error() string { return "no" }

// finish writes what went wrong, one line for each error, and returns the exit
// code. A standard error that takes nothing leaves nobody to tell. command is what
// was called, for who has called it in a wrong way.
func finish(w io.Writer, command string, err error) int {
	code := codeOf(err)
	if err == nil || code >= exitInterrupted || errors.As(err, new(noError)) {
		return code
	}
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintf(w, "crawl: %s\n", strings.TrimSuffix(line, "\n"))
	}
	if errors.As(err, new(usageError)) {
		_, _ = fmt.Fprintf(w, "crawl: see %s --help\n", command)
	}
	if damage := new(jobs.DamageError); errors.As(err, &damage) && filepath.Base(damage.File) != "job.json" {
		_, _ = fmt.Fprintln(w, "crawl: `crawl job verify DIR` shows all damage, `crawl job repair DIR` keeps what is whole")
	}
	return code
}

// codeOf is the only place that turns errors into exit codes.
func codeOf(err error) int {
	var interrupted interruptedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &interrupted):
		return interruptCode(interrupted.signal)
	case errors.Is(err, jobs.ErrUnusable):
		return exitJob
	case errors.As(err, new(usageError)), errors.As(err, new(configError)), errors.As(err, new(*engine.ConfigError)):
		return exitUsage
	}
	return exitFailed
}

func interruptCode(sig os.Signal) int {
	if sig == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

// judge turns the end of a crawl into an error, or nil for a good one. first is
// the first signal that came, or nil.
func judge(r engine.Result, first os.Signal) error {
	if r.Reason == "shutdown" && first != nil {
		return interruptedError{first}
	}
	switch r.Reason {
	case "shutdown", "closespider_errorcount", "memusage_exceeded", "start_error", "disk_full", "job_max_disk":
		return failedError{r.Reason}
	}
	if r.NoResponse {
		return failedError{"no start URL led to a response"}
	}
	return nil
}
