package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultSyncInterval is the usual value of [Options.SyncInterval].
	DefaultSyncInterval = 100 * time.Millisecond

	defaultSegmentSize   = 64 << 20
	minSegmentSize       = 1 << 10
	maxSegmentSize       = 1 << 30
	defaultFlushInterval = 10 * time.Millisecond
	flushSize            = 256 << 10
	maxPending           = 4 << 20        // then a commit writes by itself
	maxKept              = 2 * maxPending // capacity of a buffer that is kept for reuse

	lockTries = 5
	lockPause = 10 * time.Millisecond

	lockFile   = "lock"
	activeFile = "active.json"
	oldQueue   = "requests.queue.old"
)

// Options tunes a job.
type Options struct {
	// SegmentSize is the size in bytes at which a new segment of the journal is
	// begun, from 1 KiB to 1 GiB. Defaults to 64 MiB.
	SegmentSize int64
	// FlushInterval is the longest time for which a commit stays in memory.
	// Defaults to 10 ms.
	FlushInterval time.Duration
	// SyncInterval is how often what was written is forced to the disk. 0 makes
	// every Barrier do it; see DefaultSyncInterval.
	SyncInterval time.Duration
	// MaxDisk is how many bytes the journal may have before [Job.Room] says that it
	// is too large; 0 is no limit. Segments then are an eighth of it at most, so
	// that old ones can go in time. While snapshots still make the journal smaller
	// it may have more.
	MaxDisk int64
	// Reserve is the size in bytes of a file that is given up when the disk is
	// full, so that what is in progress can end. Defaults to 512 KiB; negative is
	// none.
	Reserve int64
}

func (o Options) withDefaults() Options {
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegmentSize
	}
	if o.MaxDisk > 0 {
		o.SegmentSize = min(o.SegmentSize, o.MaxDisk/8)
	}
	o.SegmentSize = min(max(o.SegmentSize, minSegmentSize), maxSegmentSize)
	if o.Reserve == 0 {
		o.Reserve = defaultReserve
	}
	if o.FlushInterval <= 0 {
		o.FlushInterval = defaultFlushInterval
	}
	return o
}

// State says in which state a job directory was found.
type State int

// The states of a job directory.
const (
	StateNew      State = iota // nothing has been crawled
	StateResumed               // the last run stopped, or was stopped, before the end
	StateFinished              // the last round ran to its end
)

// Stats counts what a job has done since it was opened.
type Stats struct {
	Commits   uint64 // transactions
	Bytes     uint64 // written to the journal
	FeedBytes uint64 // handed to the feeds
	Syncs     uint64 // of files and directories, feeds too
}

type phase int

const (
	opened phase = iota
	running
	failed // in Recover
	closed
)

// Job is an open job directory. The order of calls is [Open], perhaps
// [Job.Reset], [Job.Recover], transactions, [Job.Close]; Close may come earlier.
// All of these, Begin and the methods of the [Tx] are for one goroutine at a
// time; Read, Flush, Barrier, Round and Stats may be called beside them from
// any, between Recover and Close. An error in writing is final: it is returned
// by every later Commit, Barrier, Flush and Close, nothing more is written, and
// the directory can be resumed.
//
// A job holds one open file for each segment of its journal, and 4 bytes of
// memory for each record in them, 12 in those that were packed.
type Job struct {
	fsys     FS // nil if volatile
	dir      string
	id       Identity
	opt      Options
	lock     File
	manifest manifest
	scan     *scan  // between Open and Recover
	suffix   string // of the names of its files; see Repair
	edits    bool   // see Edit
	unclean  bool   // the run before the edit did not end in good order
	state    State
	phase    phase
	closeErr error
	tx       Tx
	feeds    []*feed

	// Locks are taken in this order, readers at any place before mu.
	syncMu sync.Mutex // one sync at a time
	ioMu   sync.Mutex // one writer of the files: feeds and segments
	mu     sync.Mutex // the fields below

	readers sync.RWMutex // held by who reads a record, and by who closes its file

	ledger
	tail     *segment // the one that takes frames
	keep     keeper
	room     room
	finished bool
	cur      *batch // takes commits
	out      *batch // being written, or nil
	spare    *batch
	lastSeq  uint64
	err      error // final
	round    uint64
	durable  uint64 // guarded by syncMu
	markBuf  []byte // guarded by syncMu
	unsynced bool   // guarded by ioMu
	newEntry bool   // guarded by ioMu: the directory needs a sync

	dirty, full, late chan struct{} // wake the loops, capacity 1
	quit              chan struct{}
	wanted            chan Addr // to be read ahead
	wg                sync.WaitGroup

	commits, bytes, feedBytes, syncs atomic.Uint64
}

// Open makes or opens a job directory, locks it, and checks manifest and
// journal. It changes nothing in a directory that holds a job already, but for
// the content of the lock file. Its errors match [ErrUnusable].
func Open(fsys FS, dir string, id Identity, opt Options) (*Job, error) {
	j := &Job{fsys: fsys, dir: filepath.Clean(dir), id: id}
	j.init(opt)
	if err := mkdirAll(fsys, j.dir, 0o700); err != nil {
		return nil, j.unusable("make it", err)
	}
	if err := j.enter(); err != nil {
		return nil, err
	}
	return j, nil
}

// Edit opens a job directory that is there, whatever its identity, to change what
// is queued in it between two runs. Recovering it begins neither a run nor a
// round, and leaves the feeds as they are.
func Edit(fsys FS, dir string) (*Job, error) {
	j := &Job{fsys: fsys, dir: filepath.Clean(dir), edits: true}
	j.init(Options{})
	m, err := findManifest(fsys, j.dir)
	if err != nil {
		return nil, err
	}
	j.id = m.identity()
	if err := j.enter(); err != nil {
		return nil, err
	}
	return j, nil
}

// enter takes the lock and reads what is there.
func (j *Job) enter() error {
	if err := j.checkEntries(); err != nil {
		return err
	}
	if err := j.takeLock(); err != nil {
		return err
	}
	if err := j.load(); err != nil {
		return errors.Join(err, j.lock.Close())
	}
	return nil
}

// Owns reports whether a path is, or is below, something that a job in dir keeps
// for itself. Other files in the directory are nobody's.
func Owns(dir, path string) bool {
	if path == "" {
		return false
	}
	dir, derr := filepath.Abs(dir)
	path, perr := filepath.Abs(path)
	rel, err := filepath.Rel(dir, path)
	if errors.Join(derr, perr, err) != nil {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return slices.Contains([]string{".", lockFile, manifestFile, queueDir, oldQueue, "start.txt", "spider.state", seenFile, emittedFile}, first)
}

func (j *Job) init(opt Options) {
	j.opt = opt.withDefaults()
	j.cur, j.spare = &batch{}, &batch{}
	j.dirty, j.full, j.late = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	j.quit = make(chan struct{})
	j.keep.wake = make(chan struct{}, 1)
	j.wanted = make(chan Addr, prefetchQueue)
	j.tx.j = j
}

// unusable wraps an error that does not say already why the directory is
// unusable.
func (j *Job) unusable(op string, err error) error {
	if errors.Is(err, ErrUnusable) {
		return err
	}
	return &AccessError{Dir: j.dir, Op: op, Err: err}
}

// checkEntries refuses a directory that holds something else than a job.
func (j *Job) checkEntries() error {
	names, err := j.fsys.List(j.dir)
	if err != nil {
		return j.unusable("list it", err)
	}
	if slices.Contains(names, repairMark) {
		return &UnfinishedRepairError{j.dir}
	}
	odd := ""
	for _, name := range names {
		switch name {
		case manifestFile:
			return nil
		case lockFile, manifestFile + ".tmp":
		case queueDir, seenFile, "spider.state":
			return &ForeignError{Dir: j.dir, Entry: name, Owner: "a job of Scrapy, or one whose " + manifestFile + " is missing"}
		default:
			odd = name
		}
	}
	if odd != "" {
		return &ForeignError{Dir: j.dir, Entry: odd, Owner: "something else"}
	}
	return nil
}

func (j *Job) takeLock() error {
	name := filepath.Join(j.dir, lockFile)
	lock, err := j.fsys.Lock(name)
	for tries := 0; errors.Is(err, ErrLocked) && tries < lockTries; tries++ {
		time.Sleep(lockPause) // somebody may only be looking whether it is locked, see Owner
		lock, err = j.fsys.Lock(name)
	}
	if errors.Is(err, ErrLocked) {
		return readOwner(j.fsys, j.dir, name)
	}
	if err != nil {
		return j.unusable("lock it", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	info := fmt.Appendf(nil, "pid %d\nhost %s\nsince %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err = lock.Truncate(0); err == nil {
		_, err = lock.WriteAt(info, 0)
	}
	if err != nil {
		return errors.Join(j.unusable("write the lock file", err), lock.Close())
	}
	j.lock = lock
	return nil
}

// readOwner reads who holds the lock; the file may be unreadable or half written.
func readOwner(fsys FS, dir, name string) *InUseError {
	e := &InUseError{Dir: dir}
	if b, err := readFile(fsys, name); err == nil {
		if n, _ := fmt.Sscanf(string(b), "pid %d\nhost %s\n", &e.PID, &e.Host); n < 2 {
			e.PID = 0
		}
	}
	return e
}

func (j *Job) load() error {
	m, err := readManifest(j.fsys, j.dir)
	switch {
	case isNotExist(err):
		m = newManifest(j.id)
		if err := m.write(j.fsys, j.dir); err != nil {
			return j.unusable("write "+manifestFile, err)
		}
	case err != nil:
		return j.unusable("read "+manifestFile, err)
	}
	if err := m.check(j.dir, j.id); err != nil {
		return err
	}
	j.manifest = m
	j.scan, err = scanJournal(j.fsys, j.dir, readWrite)
	if err != nil {
		return j.unusable("read the journal", err)
	}
	j.round, j.state = j.scan.round, j.scan.state()
	return j.missing()
}

// missing refuses a directory whose journal is gone although there were runs. A
// reset leaves none either, but puts the old one aside first.
func (j *Job) missing() error {
	return missingJournal(j.fsys, j.dir, &j.manifest, j.state)
}

func missingJournal(fsys FS, dir string, m *manifest, state State) error {
	if m.Runs == 0 || state != StateNew {
		return nil
	}
	names, err := fsys.List(dir)
	if err != nil {
		return &AccessError{Dir: dir, Op: "list it", Err: err}
	}
	if slices.Contains(names, oldQueue) {
		return nil
	}
	return &DamageError{File: filepath.Join(dir, queueDir), Reason: "the segments are gone, although the job had runs"}
}

func (j *Job) queue() string { return filepath.Join(j.dir, queueDir+j.suffix) }

// Dir returns the path of the directory; it is empty for a volatile job.
func (j *Job) Dir() string { return j.dir }

// State tells in which state Open, or Reset, found or left the directory.
func (j *Job) State() State { return j.state }

// Round returns the number of the present round, or before Recover that of the
// last one; 0 if there was none.
func (j *Job) Round() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.round
}

// Identity returns what the directory was made with.
func (j *Job) Identity() Identity { return j.id }

// Info returns what the manifest says.
func (j *Job) Info() Info {
	return j.manifest.info()
}

// Stats returns the counts up to now.
func (j *Job) Stats() Stats {
	return Stats{
		Commits: j.commits.Load(), Bytes: j.bytes.Load(),
		FeedBytes: j.feedBytes.Load(), Syncs: j.syncs.Load(),
	}
}
