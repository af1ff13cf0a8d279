package faultfs

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Crash returns what the disk may hold after a power cut at this moment, or at that
// of CutAt. All that was synced is there. Of the rest, each block of a file, each
// change of a directory, and the length of a file survive at random. The receiver
// stays as it is. The result has no locks and no faults set.
func (f *FS) Crash(rng *rand.Rand) *FS {
	if left := f.atCut(); left != nil {
		return left.Crash(rng)
	}
	// Some cuts lose nearly all, some nearly nothing.
	p := []float64{0, 0.1, 0.5, 0.9, 1}[rng.IntN(5)]
	return f.clone(func() bool { return rng.Float64() < p }, func(low, high int) int {
		switch rng.IntN(4) {
		case 0:
			return low
		case 1:
			return high
		}
		return low + rng.IntN(high-low+1)
	})
}

func (f *FS) atCut() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left
}

// Kill returns what the kernel still has when the process is killed: all that
// was written. What was synced before stays distinguished from what was not.
func (f *FS) Kill() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kept()
}

// kept is Kill for who holds mu.
func (f *FS) kept() *FS {
	c := New()
	copies := map[*node]*node{}
	dup := func(n *node) *node {
		if copies[n] == nil {
			copies[n] = &node{isDir: n.isDir, data: slices.Clone(n.data), disk: slices.Clone(n.disk), dirty: maps.Clone(n.dirty)}
		}
		return copies[n]
	}
	for path, d := range f.dirs {
		nd := newDir()
		for name, n := range d.entries {
			nd.entries[name] = dup(n)
		}
		for name, n := range d.durable {
			nd.durable[name] = dup(n)
		}
		for _, ch := range d.pending {
			if ch.node != nil {
				ch.node = dup(ch.node)
			}
			nd.pending = append(nd.pending, ch)
		}
		c.dirs[path] = nd
	}
	return c
}

// clone copies the durable state, with the dirty blocks and pending changes for
// which kept is true, and with lengths chosen from the synced and the present one.
func (f *FS) clone(kept func() bool, length func(low, high int) int) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := New()
	f.cloneDir(c, string(filepath.Separator), string(filepath.Separator), map[*node]*node{}, kept, length)
	return c
}

func (f *FS) cloneDir(c *FS, from, to string, done map[*node]*node, kept func() bool, length func(low, high int) int) {
	d := f.dirs[from]
	entries := maps.Clone(d.durable)
	for _, ch := range d.pending {
		if kept() {
			ch.apply(entries)
		}
	}
	nd := newDir()
	c.dirs[to] = nd
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		n := entries[name]
		if n.isDir {
			source := f.pathOf(from, n)
			if source == "" { // removed since: empty
				continue
			}
			nd.entries[name] = &node{isDir: true}
			f.cloneDir(c, source, filepath.Join(to, name), done, kept, length)
			continue
		}
		if done[n] == nil {
			done[n] = n.survivor(kept, length)
		}
		nd.entries[name] = done[n]
	}
	nd.durable = maps.Clone(nd.entries)
}

// pathOf finds where a directory that has been renamed is now.
func (f *FS) pathOf(parent string, n *node) string {
	for name, have := range f.dirs[parent].entries {
		if have == n {
			return filepath.Join(parent, name)
		}
	}
	return ""
}

func (n *node) survivor(kept func() bool, length func(low, high int) int) *node {
	low, high := len(n.disk), len(n.data)
	size := low
	if len(n.dirty) > 0 {
		size = length(min(low, high), max(low, high))
	}
	keep := map[int64]bool{}
	for _, b := range slices.Sorted(maps.Keys(n.dirty)) {
		keep[b] = kept()
	}
	old := *n
	old.disk = slices.Clone(n.disk)
	data := old.settle(size, func(b int64) bool { return keep[b] })
	return &node{data: data, disk: slices.Clone(data), dirty: map[int64]bool{}}
}
