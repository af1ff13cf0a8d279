package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/jobs"
	"github.com/skeincrawl/skein/scheduler"
)

// mazePlan is what a crawl of a maze has to end with.
type mazePlan struct {
	items  map[string]int      // times in the feeds, by ID
	seen   map[string]struct{} // URLs that the filter knows
	visits map[string]struct{} // paths
	failed []string            // URLs that were given up
}

func (m *maze) plan() *mazePlan {
	p := &mazePlan{items: map[string]int{}, seen: map[string]struct{}{}, visits: map[string]struct{}{}}
	for i := range m.Size {
		if i%doors == doorItem {
			p.item("start", i)
			continue
		}
		p.page(m, doorName(i), i, 0)
		m.planDoor(p, i)
	}
	slices.Sort(p.failed)
	return p
}

func (m *maze) planDoor(p *mazePlan, i int) {
	door := i % doors
	switch door {
	case doorDead, doorReset, doorGone:
		p.item("closed", i)
		p.room(m, "detour", "detour", i)
		if door != doorGone { // its status asks for no other try
			p.failed = append(p.failed, m.url(doorName(i), i, 0))
		}
		return
	}
	p.item("door", i)
	switch door {
	case doorPlain:
		p.item("second", i)
		p.room(m, "room", "room", i)
	case doorHops:
		p.page(m, "skip", i, 1)
		p.page(m, "jump", i, 2)
		p.page(m, "landed", i, 3)
	case doorAgain:
		for k := range 3 {
			p.item(fmt.Sprintf("again%d", k), i)
		}
		p.visits[fmt.Sprintf("/repeated/%d", i)] = struct{}{}
	case doorLate:
		p.room(m, "later", "late", i)
	case doorOutside:
		p.room(m, "enqueued", "outside", i)
	case doorLogin:
		p.item("private", i)
		p.page(m, "private", i, 0)
	case doorBig:
		for k := range bigSteps(m.Big) {
			p.room(m, "large", "large", i*1000+k)
		}
	}
}

func (p *mazePlan) item(name string, i int) { p.items[fmt.Sprintf("%s-%d", name, i)]++ }

func (p *mazePlan) page(m *maze, name string, i, away int) {
	p.seen[m.url(name, i, away)] = struct{}{}
	p.visits[fmt.Sprintf("/%s/%d", name, i)] = struct{}{}
}

func (p *mazePlan) room(m *maze, page, item string, i int) {
	p.item(item, i)
	p.page(m, page, i, 1)
}

// compare compares the feeds and the job of a crawl that has ended with the plan,
// and returns the sum of the items.
func (p *mazePlan) compare(t *testing.T, dir string) mazeSum {
	t.Helper()
	v, err := jobs.Look(jobs.OS(), filepath.Join(dir, "job"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	if v.State() != jobs.StateFinished || v.Torn() > 0 {
		t.Errorf("the job is in state %v, with %d torn bytes", v.State(), v.Torn())
	}
	if all, err := jobs.Verify(jobs.OS(), filepath.Join(dir, "job")); err != nil || len(all.Problems) > 0 {
		t.Errorf("the job is damaged: %v, %v", all.Problems, err)
	}
	sum := p.checkFeeds(t, dir, int(v.Round()))
	p.checkJob(t, v, sum)
	return sum
}

// checkFeeds compares each feed with the plan, and returns the sum of the items.
// Start emits its items in each round.
func (p *mazePlan) checkFeeds(t *testing.T, dir string, rounds int) (sum mazeSum) {
	t.Helper()
	want := maps.Clone(p.items)
	for id := range want {
		if strings.HasPrefix(id, "start-") {
			want[id] = rounds
		}
	}
	for name, read := range map[string]func([]byte) ([]found, error){"out.jsonl": readLines, "out.json": readArray, "out.csv": readTable} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		list, err := read(b)
		if err != nil {
			t.Fatalf("%s is not well formed: %v", name, err)
		}
		got := map[string]int{}
		sum = mazeSum{}
		for _, f := range list {
			if f != newFound(f.ID) {
				t.Errorf("%s: got the item %+v, want %+v", name, f, newFound(f.ID))
			}
			got[f.ID]++
			sum.Items, sum.Sum = sum.Items+1, sum.Sum+f.Value
		}
		if diff := differences(got, want); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	return sum
}

// differences says which keys are there more or less often than they should.
func differences(got, want map[string]int) string {
	var b strings.Builder
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if got[k] != want[k] {
			fmt.Fprintf(&b, " %s is there %d times, want %d;", k, got[k], want[k])
		}
	}
	return b.String()
}

func readLines(b []byte) (list []found, err error) {
	for line := range strings.Lines(string(b)) {
		var f found
		if err := json.Unmarshal([]byte(line), &f); err != nil || !strings.HasSuffix(line, "\n") {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		list = append(list, f)
	}
	return list, nil
}

func readArray(b []byte) (list []found, err error) { return list, json.Unmarshal(b, &list) }

func readTable(b []byte) (list []found, err error) {
	rows, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], []string{"id", "value", "text"}) {
		return nil, fmt.Errorf("the header is %q", rows[:min(len(rows), 1)])
	}
	for _, row := range rows[1:] {
		f := found{ID: row[0], Text: row[2]}
		if _, err := fmt.Sscan(row[1], &f.Value); err != nil {
			return nil, fmt.Errorf("row %q: %w", row, err)
		}
		list = append(list, f)
	}
	return list, nil
}

// checkJob compares what the job holds with the plan: nothing is pending, what was
// given up is kept, all pages and no others are known, and the state is that of
// the items.
func (p *mazePlan) checkJob(t *testing.T, v *jobs.View, sum mazeSum) {
	t.Helper()
	c, err := scheduler.ReadContents(v.Identity(), v.Visit)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Pending) > 0 {
		t.Errorf("%d requests are pending", len(c.Pending))
	}
	var state mazeSum
	if err := json.Unmarshal(c.State, &state); err != nil || state != sum {
		t.Errorf("the state is %s, the items are %+v; %v", c.State, sum, err)
	}
	if got := failedURLs(t, v, c); !slices.Equal(got, p.failed) {
		t.Errorf("given up are\n%q, want\n%q", got, p.failed)
	}
	if c.Seen() != len(p.seen) {
		t.Errorf("the filter knows %d requests, want %d", c.Seen(), len(p.seen))
	}
	for u := range p.seen {
		if !c.Has(scheduler.FingerprintOf("GET", u, nil)) {
			t.Errorf("the filter does not know %s", u)
		}
	}
}

func failedURLs(t *testing.T, v *jobs.View, c *scheduler.Contents) (urls []string) {
	t.Helper()
	for _, a := range c.Failed {
		b, err := v.Read(a.Addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := scheduler.ReadFailed(b)
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ URL string }
		if err := json.Unmarshal(f.Request, &r); err != nil {
			t.Fatal(err)
		}
		urls = append(urls, r.URL)
	}
	slices.Sort(urls)
	return urls
}
