package jobs

import "fmt"

// judgeFeeds finds for each feed its state and its number in the journal.
func (j *Job) judgeFeeds(r *Recovery) error {
	next := uint64(len(j.scan.feeds))
	for _, f := range j.feeds {
		st := j.scan.named(f.Name)
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
	j.scan.close()
	j.scan, err = scanJournal(j.fsys, j.queue())
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
