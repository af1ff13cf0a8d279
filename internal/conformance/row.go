package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A Row is one row under test: a [testing.T] of its own, of which failing and
// skipping mean that the row is not passed. Skip those that ask for what the
// product does not have.
type Row struct {
	*testing.T

	lenient bool
	why     string
}

// File reads a file beside the vectors, by its path in their folder. It fails the
// test, and not only the row, if there is none.
func (r *Row) File(name string) []byte {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(os.Getenv(dirVariable), filepath.FromSlash(name)))
	if err != nil {
		r.why = err.Error()
		r.T.Fatal(err)
	}
	return b
}

// Equal fails the row unless got is want, both as JSON.
func (r *Row) Equal(got, want any) {
	r.Helper()
	if g, w := show(got), show(want); g != w {
		r.Errorf("got %s, want %s", g, w)
	}
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// Errorf is that of [testing.T].
func (r *Row) Errorf(format string, args ...any) {
	r.Helper()
	r.fail(fmt.Sprintf(format, args...))
}

// Error is that of [testing.T].
func (r *Row) Error(args ...any) {
	r.Helper()
	r.fail(fmt.Sprintln(args...))
}

// Fatalf is that of [testing.T].
func (r *Row) Fatalf(format string, args ...any) {
	r.Helper()
	r.fail(fmt.Sprintf(format, args...))
	r.SkipNow()
}

// Fatal is that of [testing.T].
func (r *Row) Fatal(args ...any) {
	r.Helper()
	r.fail(fmt.Sprintln(args...))
	r.SkipNow()
}

// Skipf is that of [testing.T].
func (r *Row) Skipf(format string, args ...any) {
	r.Helper()
	r.fail("no counterpart: " + fmt.Sprintf(format, args...))
	r.SkipNow()
}

// Skip is that of [testing.T].
func (r *Row) Skip(args ...any) {
	r.Helper()
	r.fail("no counterpart: " + fmt.Sprintln(args...))
	r.SkipNow()
}

// fail notes the first reason why the row is not passed.
func (r *Row) fail(why string) {
	r.Helper()
	r.why = cmp.Or(r.why, why, "failed")
	if r.lenient {
		r.Log(why)
		return
	}
	r.T.Error(why)
}

// end takes a panic for a row that is not passed where the test judges nothing.
func (r *Row) end(recovers bool) {
	if !recovers {
		return
	}
	if p := recover(); p != nil {
		r.fail(fmt.Sprint("panic: ", p))
	}
}
