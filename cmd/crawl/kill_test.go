package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// scrapy/scrapy#4106, scrapy/scrapy#7978, the promise: whenever the process is
// killed, the same command goes on. No request is lost, no item is there twice in
// any feed, no feed is torn, the state is that of the items, and what was given up
// is kept.
func TestKill(t *testing.T) {
	var sum killCount
	for round := 0; sum.kills < *kills; round++ {
		k := newKiller(t, round, &sum)
		for range 12 {
			if sum.kills >= *kills || k.run() {
				break
			}
		}
		k.finish()
		k.check()
	}
	t.Log(sum)
	if *kills >= 20 && (sum.starting == 0 || sum.snapshots == 0 || sum.packs == 0) {
		t.Error("no kill met a start, or no process left a snapshot, or a packed segment")
	}
}

// killCount is what a kill test has done.
type killCount struct {
	jobs, kills, starting, closing int // kills before the spider was opened, and after it was asked to close
	stops                          int // runs that were asked to end, and did
	ended                          int // runs that nobody stopped
	items                          int
	snapshots, packs, unfinished   int // directories with a snapshot, packed segments, half of either
}

// String says it in words.
func (c killCount) String() string {
	return fmt.Sprintf("%d jobs, %d items in each feed; %d kills, %d of them at the start and %d at the end; %d clean stops, %d runs to the end; after the runs %d snapshots, %d directories with packed segments, %d with unfinished files",
		c.jobs, c.items, c.kills, c.starting, c.closing, c.stops, c.ended, c.snapshots, c.packs, c.unfinished)
}

// killer crawls one maze, over and over.
type killer struct {
	*testing.T
	site *mazeSite
	maze *maze
	dir  string
	rng  *rand.Rand
	sum  *killCount

	limit int // JOB_MAX_DISK
}

// newKiller makes a maze. Each third has steps that are larger than a frame may
// be; the others make do with a journal so small that its segments end, and are
// packed, all the time.
func newKiller(t *testing.T, round int, sum *killCount) *killer {
	t.Helper()
	seed := rand.Uint64()
	k := &killer{T: t, site: newMazeSite(t), dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, uint64(round))), sum: sum}
	k.maze = &maze{Port: k.site.port, Size: 16 * doors, Pad: 600}
	switch round % 3 {
	case 0, 1:
		k.limit = 192 << 10
	case 2:
		k.maze.Size, k.maze.Big = 4*doors, 5<<20
		k.limit = 48 << 20
	}
	sum.jobs++
	return k
}

// start starts the crawl. How the journal is written may be different in each run.
func (k *killer) start(more ...string) *process {
	k.Helper()
	args := []string{
		os.Args[0], "maze", "-a", "port=" + strconv.Itoa(k.maze.Port), "-a", "size=" + strconv.Itoa(k.maze.Size),
		"-a", "pad=" + strconv.Itoa(k.maze.Pad), "-a", "big=" + strconv.Itoa(k.maze.Big), "-s", "JOBDIR=" + filepath.Join(k.dir, "job"),
	}
	for _, name := range []string{"out.jsonl", "out.json", "out.csv"} {
		args = append(args, "-o", filepath.Join(k.dir, name))
	}
	if k.limit > 0 {
		args = append(args, "-s", "JOB_MAX_DISK="+strconv.Itoa(k.limit))
	}
	if k.rng.IntN(3) == 0 {
		args = append(args, "-s", "JOB_SYNC_INTERVAL=0")
	}
	return startProcess(k.T, append(args, more...), mazeProcess+"=1", "GORACE=atexit_sleep_ms=0")
}

// run starts the crawl and ends it at some moment: most often by a kill, at any
// time, at its start, or when it was asked to end. It reports whether the crawl
// came to its end by itself.
func (k *killer) run() (ended bool) {
	k.Helper()
	progress := k.site.after(1 + k.rng.IntN(60))
	p := k.start()
	switch k.rng.IntN(8) {
	case 0, 1, 2:
		k.wait(p, nil, 60)
	case 3:
		k.wait(p, progress, 0)
		p.signal(k.T, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[k.rng.IntN(2)])
		return k.judge(p)
	case 4:
		k.wait(p, progress, 0)
		p.signal(k.T, syscall.SIGTERM)
		k.wait(p, nil, 20)
	default:
		k.wait(p, progress, 10)
	}
	p.signal(k.T, syscall.SIGKILL)
	return k.judge(p)
}

// wait waits for the moment and then for some milliseconds more, at most until the
// process ends.
func (k *killer) wait(p *process, moment <-chan struct{}, most int) {
	if moment != nil {
		select {
		case <-moment:
		case <-p.done:
			return
		}
	}
	timer := time.NewTimer(time.Duration(k.rng.Int64N(int64(most)*int64(time.Millisecond) + 1)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.done:
	}
}

// judge counts how the process ended.
func (k *killer) judge(p *process) (ended bool) {
	k.Helper()
	code, log := p.code(), p.log.String()
	switch code {
	case -1:
		k.sum.kills++
		if !strings.Contains(log, "Spider opened") {
			k.sum.starting++
		}
		if strings.Contains(log, "Closing spider") {
			k.sum.closing++
		}
	case 130, 143:
		k.sum.stops++
	case 0:
		k.sum.ended++
	default:
		k.Fatalf("exit code %d; log:\n%s", code, log)
	}
	for _, bad := range []string{"left as it is", "has lost bytes", "Given up: ", "Spider error", "panic", "DATA RACE"} {
		if strings.Contains(log, bad) {
			k.Errorf("the log has %q:\n%s", bad, log)
		}
	}
	k.look()
	return code == 0
}

// look notes what the end of a process has left of the journal's files.
func (k *killer) look() {
	entries, _ := os.ReadDir(filepath.Join(k.dir, "job", "requests.queue")) // a very early kill leaves none
	var snapshot, packed, unfinished bool
	for _, e := range entries {
		name := e.Name()
		snapshot = snapshot || name == "snapshot"
		packed = packed || strings.HasPrefix(name, "seg-") && strings.Count(name, "-") == 2
		unfinished = unfinished || strings.HasSuffix(name, ".tmp")
	}
	for n, is := range map[*int]bool{&k.sum.snapshots: snapshot, &k.sum.packs: packed, &k.sum.unfinished: unfinished} {
		if is {
			*n++
		}
	}
}

// finish runs the crawl to its end, unless it was there already.
func (k *killer) finish() {
	k.Helper()
	p := k.start("-s", "JOB_WHEN_FINISHED=stop")
	if !k.judge(p) {
		k.Fatalf("the crawl did not end; log:\n%s", p.log.String())
	}
}

// check compares what there is with the maze. Further rounds, killed too, must find
// no page that is new.
func (k *killer) check() {
	k.Helper()
	plan, hits := k.maze.plan(), k.site.hits()
	for path := range plan.visits {
		if hits[path] == 0 {
			k.Errorf("%s was not visited", path)
		}
	}
	k.sum.items += k.compare(plan)
	for range k.rng.IntN(3) {
		k.run()
	}
	if p := k.start(); !k.judge(p) {
		k.Fatalf("another round did not end; log:\n%s", p.log.String())
	}
	if diff := differences(k.site.hits(), hits); diff != "" {
		k.Errorf("another round found new pages:%s", diff)
	}
	k.compare(plan)
}

// compare compares feeds and job with the plan, and returns the number of items.
func (k *killer) compare(plan *mazePlan) int {
	k.Helper()
	sum := plan.compare(k.T, k.dir)
	if k.Failed() {
		k.FailNow()
	}
	return sum.Items
}
