package scheduler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
	"github.com/skeincrawl/skein/scheduler/schedulertest"
	"github.com/skeincrawl/skein/settings"
)

const site = "http://example.com/"

// A past is what has happened to a request of a job: it was pushed by Start as it
// is stored, and then it is still pending, done, or given up.
type past struct {
	stored string
	end    string // pending, done, failed
}

// pastOf makes the past of a GET by its path.
func pastOf(path, end string) past { return past{fmt.Sprintf(`{"url":%q}`, site+path), end} }

func identity() jobs.Identity {
	return jobs.Identity{Spider: "test", Fingerprinter: scheduler.FingerprinterName, Filter: "fingerprint"}
}

// open opens the frontier of a job.
func open(t testing.TB, fs jobs.FS, log *bytes.Buffer) (scheduler.Frontier, scheduler.Resume) {
	t.Helper()
	env := newEnv(t)
	env.JobDir = "/x"
	if log != nil {
		env.Log = zerolog.New(log)
	}
	job, err := jobs.Open(fs, "/x", identity(), jobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	deps := scheduler.Deps{Env: env, Slots: schedulertest.NewSlots(100, 0), Job: job}
	f, resume, err := scheduler.NewLocal(deps, settings.Decode[scheduler.Config](env.Settings))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close(context.Background(), "cleanup") })
	return f, resume
}

// entryOf makes a request of its stored form.
func entryOf(t testing.TB, stored string) scheduler.Entry {
	t.Helper()
	r, err := crawl.NewCallbacks(&schedulertest.Spider{}).DecodeRequest([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	return scheduler.Entry{Request: r, Slot: "s", Body: []byte(stored), Fingerprint: scheduler.FingerprintOf(r.Verb(), r.URL, r.Body)}
}

// crawled runs a job that leaves a past behind, whose Start has ended or not.
func crawled(t testing.TB, fs jobs.FS, started bool, reason string, all ...past) {
	t.Helper()
	f, _ := open(t, fs, nil)
	var outcomes []scheduler.Outcome
	ends := map[string]string{}
	for i, p := range all {
		outcomes = append(outcomes, scheduler.Outcome{
			Key: scheduler.Key{Ordinal: uint64(i + 1)}, Kind: scheduler.StartEntry, Push: []scheduler.Entry{entryOf(t, p.stored)},
		})
		ends[p.stored] = p.end
	}
	if started {
		outcomes = append(outcomes, scheduler.Outcome{Kind: scheduler.StartEnded})
	}
	g, err := f.Step(t.Context(), nil, outcomes, len(all))
	if err != nil || len(g.Leases) != len(all) {
		t.Fatalf("%d leases, error %v", len(g.Leases), err)
	}
	var done []scheduler.Outcome
	for _, l := range g.Leases {
		o := scheduler.Outcome{Key: scheduler.Key{Lease: l.ID}, Answered: true}
		switch ends[string(l.Body)] {
		case "pending":
			continue
		case "failed":
			o.Failed, o.Answered = "no route", false
		}
		done = append(done, o)
	}
	if _, err := f.Step(t.Context(), nil, done, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(t.Context(), reason); err != nil {
		t.Fatal(err)
	}
}

// edited edits a job and returns the first error.
func edited(fs jobs.FS, change func(*scheduler.Editor) error) error {
	job, err := jobs.Edit(fs, "/x")
	if err != nil {
		return err
	}
	e, err := scheduler.NewEditor(job)
	if err == nil {
		err = change(e)
	}
	return errors.Join(err, job.Close(jobs.End{}))
}

// holding is what a job holds, as stored forms and URLs.
type holding struct {
	state           jobs.State
	start           scheduler.StartState
	pending, failed []string
}

func held(t testing.TB, fs jobs.FS) (holding, *scheduler.Contents) {
	t.Helper()
	view, err := jobs.Look(fs, "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	c, err := scheduler.ReadContents(view.Identity(), view.Visit)
	if err != nil {
		t.Fatal(err)
	}
	h := holding{state: view.State(), start: c.Start}
	for _, q := range c.Pending {
		b, err := view.Read(q.Addr, nil)
		if err != nil || q.Slot != "s" {
			t.Fatalf("slot %q, error %v", q.Slot, err)
		}
		h.pending = append(h.pending, string(b))
	}
	for _, q := range c.Failed {
		b, err := view.Read(q.Addr, nil)
		if err != nil || q.Slot != "s" {
			t.Fatalf("slot %q, error %v", q.Slot, err)
		}
		f, err := scheduler.ReadFailed(b)
		if err != nil || f.Error != "no route" || f.Time.IsZero() {
			t.Fatalf("failed record %+v, error %v", f, err)
		}
		h.failed = append(h.failed, string(f.Request))
	}
	return h, c
}

// TestRequeue is rmax/scrapy-redis#177: a request that was given up in an earlier
// run is put back and crawled by the next one, in the same round, although its
// URL is seen. Asking twice does not double it.
func TestRequeue(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	crawled(t, fs, true, "finished",
		pastOf("done", "done"),
		past{`{"url":"http://example.com/a","priority":7,"not_before":17,"depth":2,"retries":2,"start":true,"meta":{"x":1}}`, "failed"},
		past{`{"url":"http://example.com/b","method":"POST","dont_filter":true,"retries":2,"body":"eA=="}`, "failed"})
	for i, want := range []scheduler.Requeued{{Queued: 2}, {}} {
		err := edited(fs, func(e *scheduler.Editor) error {
			got, err := e.Requeue(nil)
			if got != want {
				t.Errorf("time %d: %+v, want %+v", i+1, got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fresh := []string{
		`{"url":"http://example.com/a","priority":7,"depth":2,"start":true,"meta":{"x":1}}`,
		`{"url":"http://example.com/b","method":"POST","dont_filter":true,"body":"eA=="}`,
	}
	got, c := held(t, fs)
	if want := (holding{jobs.StateResumed, scheduler.StartDone, fresh, nil}); !reflect.DeepEqual(got, want) {
		t.Errorf("the job holds %+v, want %+v", got, want)
	}
	if q := c.Pending[0]; q.Priority != 7 || !q.Start || !q.NotBefore.IsZero() {
		t.Errorf("requeued %+v, want priority 7, of the start, at once", q)
	}
	f, resume := open(t, fs, nil)
	g, err := f.Step(t.Context(), nil, []scheduler.Outcome{pushOf(t, 1, `{"url":"http://example.com/a"}`)}, 9)
	var bodies []string
	for _, l := range g.Leases {
		bodies = append(bodies, string(l.Body))
	}
	slices.Sort(bodies)
	if err != nil || !reflect.DeepEqual(bodies, fresh) || len(g.Refused) != 1 {
		t.Errorf("leased %s, refused %d, error %v, want %s and that of Start refused", bodies, len(g.Refused), err, fresh)
	}
	if !resume.Resumed || resume.Round != 1 || resume.Pending != 2 {
		t.Errorf("%+v, want a resume of round 1 with 2 requests", resume)
	}
}

func pushOf(t testing.TB, n uint64, stored string) scheduler.Outcome {
	t.Helper()
	return scheduler.Outcome{Key: scheduler.Key{Ordinal: n}, Kind: scheduler.StartEntry, Push: []scheduler.Entry{entryOf(t, stored)}}
}

// TestRequeueSome requeues by URL, not what is pending in the same form, and not
// what can not be read.
func TestRequeueSome(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	post := `{"url":"http://example.com/a?x=1&y=2","method":"POST","body":"eA=="}`
	crawled(t, fs, true, "shutdown",
		pastOf("a?y=2&x=1", "failed"), past{post, "failed"}, pastOf("b", "failed"), pastOf("p", "failed"),
		past{`{"url":"http://example.com/p","dont_filter":true}`, "pending"},
		past{`{"url":"http://example.com/p","dont_filter":true,"callback":"Page"}`, "failed"})
	for _, tc := range []struct {
		pick   func() (*scheduler.Selection, error)
		want   scheduler.Requeued
		failed int // after it
	}{
		{func() (*scheduler.Selection, error) { return scheduler.SelectURLs([]string{site + "none"}) }, scheduler.Requeued{}, 5},
		{func() (*scheduler.Selection, error) {
			return scheduler.SelectRequests("post", []byte("y"), []string{site + "a?x=1&y=2"})
		}, scheduler.Requeued{}, 5},
		{func() (*scheduler.Selection, error) {
			return scheduler.SelectRequests("post", []byte("x"), []string{site + "a?x=1&y=2"})
		}, scheduler.Requeued{Queued: 1}, 4},
		{func() (*scheduler.Selection, error) { return scheduler.SelectURLs([]string{site + "a?x=1&y=2"}) }, scheduler.Requeued{Queued: 1}, 3},
		{func() (*scheduler.Selection, error) { return nil, nil }, scheduler.Requeued{Queued: 2, Pending: 1}, 0},
	} {
		err := edited(fs, func(e *scheduler.Editor) error {
			which, err := tc.pick()
			if err != nil {
				return err
			}
			got, err := e.Requeue(which)
			if got != tc.want || len(e.Failed) != tc.failed {
				t.Errorf("%+v, %d failed, want %+v, %d", got, len(e.Failed), tc.want, tc.failed)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := held(t, fs); len(got.pending) != 5 {
		t.Errorf("pending are %s, want 5", got.pending)
	}
}

// TestDrop is gocolly/colly#656 ("failed URLs can be forgotten through an API"):
// a dropped URL is neither queued nor failed nor seen, so it is crawled when it is
// found again, also if it is Start that finds it.
func TestDrop(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	post := `{"url":"http://example.com/f","method":"POST","body":"eA=="}`
	crawled(t, fs, false, "shutdown",
		pastOf("d", "done"), pastOf("f", "failed"), pastOf("p", "pending"), pastOf("stays", "done"), past{post, "pending"})
	for i, want := range []scheduler.Dropped{{Queued: 2, Failed: 1, Seen: 4}, {}} {
		err := edited(fs, func(e *scheduler.Editor) error {
			which, err := scheduler.SelectURLs([]string{site + "d", site + "f", site + "p", site + "never"})
			if err != nil {
				return err
			}
			got, err := e.Drop(which)
			if got != want {
				t.Errorf("time %d: %+v, want %+v", i+1, got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, c := held(t, fs)
	if want := (holding{state: jobs.StateResumed, start: scheduler.StartPartial}); !reflect.DeepEqual(got, want) || c.Seen() != 1 {
		t.Errorf("the job holds %+v and has seen %d, want %+v and 1", got, c.Seen(), want)
	}
	f, resume := open(t, fs, nil)
	if n := resume.Accepted.Len(); n != 1 {
		t.Errorf("%d entries of Start are passed over, want 1", n)
	}
	var again []scheduler.Outcome
	for i, path := range []string{"d", "f", "p", "stays"} {
		again = append(again, pushOf(t, uint64(i+1), fmt.Sprintf(`{"url":%q}`, site+path)))
	}
	g, err := f.Step(t.Context(), nil, again, 9)
	if err != nil || len(g.Leases) != 3 || len(g.Refused) != 1 || g.Refused[0].Request.URL != site+"stays" {
		t.Errorf("%d leases, %d refused, error %v, want 3, 1", len(g.Leases), len(g.Refused), err)
	}
}

// TestDropSlot checks that what a slot has queued, and what has failed, stays seen
// when it is dropped.
func TestDropSlot(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	crawled(t, fs, true, "shutdown", pastOf("a", "pending"), pastOf("b", "pending"), pastOf("c", "failed"))
	err := edited(fs, func(e *scheduler.Editor) error {
		none, err1 := e.DropSlot("other")
		two, err2 := e.DropSlot("s")
		one, err3 := e.DropFailed()
		if none != 0 || two != 2 || one != 1 {
			t.Errorf("dropped %d, %d, %d, want 0, 2, 1", none, two, one)
		}
		return errors.Join(err1, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, c := held(t, fs)
	if want := (holding{state: jobs.StateResumed, start: scheduler.StartDone}); !reflect.DeepEqual(got, want) || c.Seen() != 3 {
		t.Errorf("the job holds %+v and has seen %d, want %+v and 3", got, c.Seen(), want)
	}
}

// TestEditCutShort lets the disk fail, and then kills the process or cuts the power,
// in the middle of an edit: every request is there once, and the same edit again does
// the rest.
func TestEditCutShort(t *testing.T) {
	t.Parallel()
	const n = 8
	base := faultfs.New()
	var all []past
	for i := range n {
		all = append(all, pastOf(fmt.Sprint("f", i), "failed"), pastOf(fmt.Sprint("p", i), "pending"))
	}
	crawled(t, base, true, "finished", all...)
	requeue := func(e *scheduler.Editor) error {
		_, err := e.Requeue(nil)
		return err
	}
	drop := func(e *scheduler.Editor) error {
		var urls []string
		for i := range n {
			urls = append(urls, fmt.Sprint(site, "p", i))
		}
		which, err := scheduler.SelectURLs(urls)
		if err != nil {
			return err
		}
		_, err = e.Drop(which)
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, tc := range map[string]struct {
		change func(*scheduler.Editor) error
		whole  func(pending, failed, seen int) bool
		want   [3]int // pending, failed, seen
	}{
		"requeue": {requeue, func(pending, failed, seen int) bool { return pending+failed == 2*n && seen == 2*n }, [3]int{2 * n, 0, 2 * n}},
		"drop":    {drop, func(pending, failed, seen int) bool { return failed == n && seen == n+pending }, [3]int{0, n, n}},
	} {
		full, partly := 0, 0
		for op := 1; ; op++ {
			fs := base.Kill()
			fs.FailAt(faultfs.Any, op, syscall.EIO)
			err := edited(fs, tc.change)
			if err == nil {
				break
			}
			if !errors.Is(err, syscall.EIO) {
				t.Fatalf("%s, operation %d: %v", name, op, err)
			}
			full++
			for _, after := range []*faultfs.FS{fs.Kill(), fs.Crash(rng)} {
				got, c := held(t, after)
				if !tc.whole(len(got.pending), len(got.failed), c.Seen()) {
					t.Fatalf("%s, operation %d: %d pending, %d failed, %d seen", name, op, len(got.pending), len(got.failed), c.Seen())
				}
				if len(got.pending) != n && len(got.pending) != tc.want[0] {
					partly++
				}
				if err := edited(after, tc.change); err != nil {
					t.Fatal(err)
				}
				if got, c := held(t, after); [3]int{len(got.pending), len(got.failed), c.Seen()} != tc.want {
					t.Fatalf("%s, operation %d, repeated: %d pending, %d failed, %d seen, want %v",
						name, op, len(got.pending), len(got.failed), c.Seen(), tc.want)
				}
			}
		}
		if full < 5 || partly == 0 {
			t.Errorf("%s: cut short %d times, %d of the jobs were changed in part", name, full, partly)
		}
	}
}

// TestVainStart checks that start requests which nothing answered are not kept as
// given up: the next run starts as if Start had never run. Others are.
func TestVainStart(t *testing.T) {
	t.Parallel()
	start := `{"url":"http://example.com/a","start":true}`
	for _, tc := range []struct {
		reason string
		other  past
		failed []string
	}{
		{scheduler.NoResponse, pastOf("b", "failed"), []string{`{"url":"http://example.com/b"}`}},
		{"finished", pastOf("b", "done"), []string{start}},
	} {
		fs := faultfs.New()
		crawled(t, fs, true, tc.reason, past{start, "failed"}, tc.other)
		if got, _ := held(t, fs); !reflect.DeepEqual(got.failed, tc.failed) {
			t.Errorf("%s: %s failed, want %s", tc.reason, got.failed, tc.failed)
		}
	}
}

// TestFailedAreTold checks the line at the end of a crawl.
func TestFailedAreTold(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"", "1 request was given up: `crawl job failed /x` lists them, `crawl job retry-failed /x` puts them back", "2 requests were given up: "} {
		fs := faultfs.New()
		var all []past
		for i := range n {
			all = append(all, pastOf(fmt.Sprint(i), "failed"))
		}
		crawled(t, fs, true, "finished", append(all, pastOf("done", "done"))...)
		var log bytes.Buffer
		f, _ := open(t, fs, &log) // a run later they are still there
		if err := f.Close(t.Context(), "finished"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), want) || strings.Contains(log.String(), "given up") != (n > 0) {
			t.Errorf("%d failed: the log is %s, want %q", n, log.String(), want)
		}
	}
}

func TestFingerprintURL(t *testing.T) {
	t.Parallel()
	got, err := scheduler.FingerprintURL("", "HTTP://example.com/ä b?y=1&x=2#f", nil)
	if want := scheduler.FingerprintOf("GET", "http://example.com/%C3%A4%20b?x=2&y=1", nil); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"", "example.com/a", "/a", "http://[::1"} {
		if _, err := scheduler.FingerprintURL("", bad, nil); err == nil || !strings.Contains(err.Error(), "want a whole one") {
			t.Errorf("%q: error %v", bad, err)
		}
		if _, err := scheduler.SelectURLs([]string{bad}); err == nil {
			t.Errorf("select %q: no error", bad)
		}
	}
}

// TestOtherFingerprints checks that a job with fingerprints of another kind is
// told from one that this package can ask.
func TestOtherFingerprints(t *testing.T) {
	t.Parallel()
	if err := scheduler.CheckFingerprints(identity()); err != nil {
		t.Error(err)
	}
	err := scheduler.CheckFingerprints(jobs.Identity{Fingerprinter: "mine"})
	if err == nil || !strings.Contains(err.Error(), `"mine"`) || !strings.Contains(err.Error(), `"sha1"`) {
		t.Errorf("error %v, want both names", err)
	}
}

// TestNoFilter checks that nothing is seen in a job without a duplicate filter.
func TestNoFilter(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	crawled(t, fs, true, "shutdown", pastOf("a", "pending"))
	view, err := jobs.Look(fs, "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	c, err := scheduler.ReadContents(jobs.Identity{Filter: "none"}, view.Visit)
	if err != nil || c.Seen() != 0 || c.Has(scheduler.FingerprintOf("", site+"a", nil)) || len(c.Pending) != 1 {
		t.Errorf("seen %d, error %v", c.Seen(), err)
	}
}
