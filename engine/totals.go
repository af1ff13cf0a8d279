package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/skeincrawl/skein/crawl"
)

// totalsNote is the note in which a job keeps its totals, and totalsPrefix goes
// before the keys of the stats that show them.
const (
	totalsNote   = "stats"
	totalsPrefix = "job/"
)

// totals sums the counters of all runs of a job. It belongs to one goroutine at
// a time.
type totals struct {
	stats  *crawl.Stats
	runs   int // with the present one, 0 without a job
	before counters
	saved  []byte
}

// counters are those of one or several runs.
type counters struct {
	Sums   map[string]int64 `json:"sums"`
	Maxima map[string]int64 `json:"maxima"`
}

// restore begins with the totals of the runs before.
func (t *totals) restore(kept []byte, runs int) error {
	t.runs = runs
	if kept == nil {
		return nil
	}
	var before counters
	if err := json.Unmarshal(kept, &before); err != nil {
		return fmt.Errorf("read the stats of the job: %w", err)
	}
	t.before, t.saved = before, kept
	return nil
}

// JobTotals returns the counters of all runs of a job, from the notes that it
// keeps ([scheduler.Contents]); none if it has none yet.
func JobTotals(notes map[string][]byte) (map[string]int64, error) {
	var t totals
	if err := t.restore(notes[totalsNote], 0); err != nil {
		return nil, err
	}
	all := map[string]int64{}
	maps.Copy(all, t.before.Sums)
	maps.Copy(all, t.before.Maxima)
	return all, nil
}

// now returns the totals with the present run.
func (t *totals) now() counters {
	var c counters
	c.Sums, c.Maxima = t.stats.Counters()
	for k, n := range t.before.Sums {
		c.Sums[k] += n
	}
	for k, n := range t.before.Maxima {
		c.Maxima[k] = max(c.Maxima[k], n)
	}
	return c
}

// save returns the totals as the job keeps them, nil if they are the same as at
// the last call.
func (t *totals) save() []byte {
	b, _ := json.Marshal(t.now()) // maps of integers: can not fail
	if bytes.Equal(b, t.saved) {
		return nil
	}
	t.saved = b
	return b
}

// show puts the totals beside the stats of this run, if there was another.
func (t *totals) show() {
	if t.runs < 2 {
		return
	}
	c := t.now()
	maps.Copy(c.Sums, c.Maxima)
	for k, n := range c.Sums {
		t.stats.Set(totalsPrefix+k, n)
	}
	t.stats.Set(totalsPrefix+"runs", int64(t.runs))
}
