package cookie

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Fold returns the shortest log of changes that gives the same jars at the time
// now as log does: a line for each cookie that is left. Of two changes of one
// cookie (the same jar, name, domain and path) the last counts; what was deleted,
// has expired or had to give way is gone. Jars come in the order of their names,
// the cookies of a jar in the order of their creation. It is nil if nothing is
// left. A log that can not be read is returned as it is.
func Fold(log []byte, now time.Time) []byte {
	jars := map[string]*Jar{}
	err := ReadChanges(log, func(c *Change) {
		if jars[c.Jar] == nil {
			jars[c.Jar] = &Jar{}
		}
		jars[c.Jar].Set(c.Cookie, now)
	})
	if err != nil {
		return log
	}
	var folded []byte
	for _, name := range slices.Sorted(maps.Keys(jars)) {
		for _, e := range jars[name].entries() {
			change := Change{Jar: name, Cookie: e.Cookie}
			folded = change.Append(folded)
		}
	}
	return folded
}

// entries returns the cookies of a jar, oldest first.
func (j *Jar) entries() []entry {
	j.mu.RLock()
	defer j.mu.RUnlock()
	var all []entry
	for _, list := range j.domains {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.born, b.born) })
	return all
}
