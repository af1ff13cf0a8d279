package jobs

import (
	"fmt"
	"path/filepath"
	"slices"
)

// judgeFeeds finds for each feed its state and its number in the journal.
func (j *Job) judgeFeeds(r *Recovery) error {
	next := uint64(len(j.scan.feeds))
	for _, f := range j.feeds {
		st := j.scan.named(f.Name)
		if st == nil {
			moved, err := j.moved(f)
			if err != nil {
				return err
			}
			if st = moved; st != nil {
				r.Warnings = append(r.Warnings, fmt.Sprintf("feed %s goes on as what was %s: it holds what the job wrote there", f.Name, st.name))
			}
		}
		f.empty = f.Overwrite && r.NewRound
		if st != nil {
			f.id = st.id
		} else {
			f.id = next
			next++
		}
		if st == nil || f.empty {
			if _, err := f.measure(); err != nil {
				return err
			}
			f.fresh = true
			if !f.empty {
				if err := f.adopt(); err != nil {
					return err
				}
			}
			continue
		}
		warning, err := f.judge(st, r.Clean)
		if err != nil {
			return err
		}
		if f.foreign {
			f.fresh = true
			r.Warnings = append(r.Warnings, warning)
			if err := f.adopt(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *scan) named(name string) *feedState {
	for _, st := range s.feeds {
		if st != nil && st.name == name {
			return st
		}
	}
	return nil
}

// moved finds the feed that was moved to another folder, most often with the job:
// one of the same base name that this run does not have, and whose synced bytes
// are in the sink.
func (j *Job) moved(f *feed) (*feedState, error) {
	if _, err := f.measure(); err != nil || f.plain {
		return nil, err
	}
	for _, st := range j.scan.feeds {
		if st == nil || st.mark == 0 || !st.hasCRC || f.size < st.mark || filepath.Base(st.name) != filepath.Base(f.Name) {
			continue
		}
		if slices.ContainsFunc(j.feeds, func(o *feed) bool { return o.Name == st.name }) {
			continue
		}
		same, err := f.matches(st)
		if err != nil || same {
			return st, err
		}
	}
	return nil, nil //nolint:nilnil // there is none.
}

// matchFeeds takes steps back from the journal whose bytes a feed has lost.
func (j *Job) matchFeeds(r *Recovery) error {
	buf := make([]byte, markWindow)
	for _, w := range j.scan.writes {
		f := j.feedByID(w.id)
		if f == nil || f.fresh || f.plain {
			continue
		}
		ok, err := f.holds(w, buf)
		if err != nil {
			return err
		}
		if !ok {
			return j.takeBack(f, w, r)
		}
	}
	return nil
}

func (j *Job) feedByID(id uint64) *feed {
	for _, f := range j.feeds {
		if f.id == id {
			return f
		}
	}
	return nil
}

func (j *Job) takeBack(f *feed, w feedWrite, r *Recovery) error {
	n, err := j.scan.cutAt(w.segment, w.offset)
	if err != nil {
		return err
	}
	r.CutBytes += n
	r.Warnings = append(r.Warnings, fmt.Sprintf(
		"feed %s has lost bytes behind byte %d: %d bytes of the journal were taken back, so that these steps are done again", f.Name, w.from, n))
	if err := j.scan.close(); err != nil {
		return err
	}
	j.scan, err = scanJournal(j.fsys, j.dir, readWrite)
	return err
}

// cutFeeds cuts the job's own feeds to what is committed.
func (j *Job) cutFeeds() error {
	for _, f := range j.feeds {
		st := j.scan.feed(f.id)
		switch {
		case f.plain || f.empty:
			continue
		case f.fresh:
			continue // it has its length
		case st == nil:
			f.length = f.size
			continue
		}
		f.length = st.length
		if err := f.cut(); err != nil {
			return err
		}
	}
	return nil
}
