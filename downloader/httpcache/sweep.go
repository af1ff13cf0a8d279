package httpcache

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// abandoned is how old a file that is being written must be for its writer to be
// dead.
const abandoned = time.Hour

// aFile is a file of the cache, of this spider or of another.
type aFile struct {
	path    string
	size    int64
	written time.Time
}

// grown counts what was saved. Once at the beginning, and whenever there is more
// than may be, it looks what there really is: other crawls save and remove too.
// One goroutine does it, the others go on.
func (f *filesystem) grown(n int64) {
	full := f.used.Add(n) > f.MaxSize && f.MaxSize > 0
	if !full && f.swept.Load() || !f.sweeping.TryLock() {
		return
	}
	defer f.sweeping.Unlock()
	f.sweep()
	f.swept.Store(true)
}

// sweep removes what crashes left unfinished, what has expired and, if the rest takes
// more than HTTPCACHE_MAX_SIZE, the oldest of it until a tenth is free. Entries that
// can stay for ever it does not look at: there may be millions.
func (f *filesystem) sweep() {
	for _, file := range f.files(unfinished) {
		if strings.HasPrefix(filepath.Base(file.path), unfinished+"-") && time.Since(file.written) > abandoned {
			f.evict(file)
		}
	}
	if f.Expires > 0 || f.MaxSize > 0 {
		f.sweepEntries()
	}
}

func (f *filesystem) sweepEntries() {
	var used int64
	var left []aFile
	for _, file := range f.files("[0-9a-f][0-9a-f]") {
		if !file.isEntry() {
			continue
		}
		if f.expired(file.written) {
			f.evict(file)
			continue
		}
		used += file.size
		left = append(left, file)
	}
	if f.MaxSize > 0 && used > f.MaxSize {
		slices.SortFunc(left, func(a, b aFile) int { return a.written.Compare(b.written) })
		for _, file := range left {
			if used <= f.MaxSize-f.MaxSize/10 {
				break
			}
			f.evict(file)
			used -= file.size
		}
	}
	f.used.Store(used)
}

func (f *filesystem) evict(file aFile) {
	if err := remove(file.path); err != nil {
		f.log.Warn().Err(err).Msg("Error removing an old response from the cache")
	}
}

// files returns what lies in the folders of all spiders with a name by a pattern. Files
// that vanish meanwhile are not there.
func (f *filesystem) files(pattern string) []aFile {
	folders, err := filepath.Glob(filepath.Join(escaped(f.Root), "*", pattern))
	if err != nil {
		f.log.Warn().Err(err).Msg("Error looking for old responses in the cache")
	}
	var all []aFile
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			all = append(all, aFile{filepath.Join(folder, e.Name()), info.Size(), info.ModTime()})
		}
	}
	return all
}

// escaped returns a path for a pattern in which it means itself.
func escaped(path string) string {
	if os.PathSeparator == '\\' {
		return path // where nothing can be escaped
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// isEntry reports whether a file is one of the cache by its name, SPIDER/ab/abcd…:
// nothing else that may be in the folder is ever touched.
func (f *aFile) isEntry() bool {
	dir, name := filepath.Split(f.path)
	return len(name) == 40 && strings.Trim(name, "0123456789abcdef") == "" && strings.HasPrefix(name, filepath.Base(dir))
}
