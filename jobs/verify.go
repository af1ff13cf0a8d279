package jobs

// Verified is what [Verify] found.
type Verified struct {
	Segments int
	Records  int     // that are still needed, all of which were read
	Problems []error // each names a file and an offset
}

// Verify reads everything in a job directory and checks it: every frame, every
// record, the snapshot and what it names. A crawl that goes on meanwhile does no
// harm. An error means that the directory could not be read at all.
func Verify(fsys FS, dir string) (Verified, error) {
	panic("later")
}

// Repaired is what [Repair] did.
type Repaired struct {
	Kept   int      // requests that are still queued
	Lost   []string // what could not be read, a sentence each
	Backup string   // where the damaged files are kept; "" if nothing had to be done
}

// Repair makes a damaged job directory usable: what is whole is written anew, and
// the old files are put aside.
func Repair(fsys FS, dir string) (Repaired, error) {
	panic("later")
}
