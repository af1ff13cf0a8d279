package jobs

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const manifestFile = "job.json"

// Identity is what makes a crawl the same crawl: a directory made with another
// one is refused.
type Identity struct {
	Spider        string
	Args          map[string]string // secret values already hashed
	Fingerprinter string
	Filter        string // the duplicate filter
	QueueClass    string // the priority queue
}

// Info is what the manifest says of the past.
type Info struct {
	Created time.Time
	Runs    int    // that have been recovered or started, with the present one
	Reason  string // for which the last run ended; empty after a crash
}

type manifest struct {
	Format        int               `json:"format"`
	Spider        string            `json:"spider"`
	Args          map[string]string `json:"arguments"`
	Fingerprinter string            `json:"fingerprinter"`
	Filter        string            `json:"filter"`
	QueueClass    string            `json:"queue"`
	Created       time.Time         `json:"created"`
	Runs          int               `json:"runs"`
	Reason        string            `json:"reason"`
}

func newManifest(id Identity) manifest {
	return manifest{
		Format: formatVersion, Spider: id.Spider, Args: id.Args, Fingerprinter: id.Fingerprinter,
		Filter: id.Filter, QueueClass: id.QueueClass, Created: time.Now().UTC().Truncate(time.Second),
	}
}

func (m *manifest) identity() Identity {
	return Identity{Spider: m.Spider, Args: m.Args, Fingerprinter: m.Fingerprinter, Filter: m.Filter, QueueClass: m.QueueClass}
}

func (m *manifest) info() Info {
	return Info{Created: m.Created, Runs: m.Runs, Reason: m.Reason}
}

// findManifest reads the manifest of a directory that should hold a job.
func findManifest(fsys FS, dir string) (manifest, error) {
	m, err := readManifest(fsys, dir)
	switch {
	case err == nil, errors.Is(err, ErrUnusable):
		return m, err
	case isNotExist(err):
		return m, &NoJobError{dir}
	}
	return m, &AccessError{Dir: dir, Op: "read " + manifestFile, Err: err}
}

// readManifest returns an error matching fs.ErrNotExist if there is none.
func readManifest(fsys FS, dir string) (manifest, error) {
	name := filepath.Join(dir, manifestFile)
	b, err := readFile(fsys, name)
	if err != nil {
		return manifest{}, err
	}
	// The version comes first: nothing else of a newer file need be readable.
	var head struct{ Format int }
	err = json.Unmarshal(b, &head)
	if err == nil && head.Format > 0 && head.Format != formatVersion {
		return manifest{}, versionError(name, uint32(head.Format))
	}
	var m manifest
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err == nil && m.Format < 1 {
		err = errors.New("no format version")
	}
	if err != nil {
		return manifest{}, &DamageError{File: name, Offset: jsonOffset(err), Reason: err.Error()}
	}
	return m, nil
}

func jsonOffset(err error) int64 {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return syntax.Offset
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return kind.Offset
	}
	return 0
}

func (m *manifest) write(fsys FS, dir string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeFileAtomic(fsys, filepath.Join(dir, manifestFile), append(b, '\n'))
}

// check returns a *MismatchError for the first difference.
func (m *manifest) check(dir string, id Identity) error {
	for _, c := range []struct{ what, have, want string }{
		{"spider", m.Spider, id.Spider},
		{"fingerprinter", m.Fingerprinter, id.Fingerprinter},
		{"duplicate filter", m.Filter, id.Filter},
		{"priority queue", m.QueueClass, id.QueueClass},
	} {
		if c.have != c.want {
			return &MismatchError{Dir: dir, What: c.what, Have: strconv.Quote(c.have), Want: strconv.Quote(c.want)}
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(m.Args)), maps.Keys(id.Args))
	slices.Sort(names)
	for _, name := range names {
		have, want := argValue(m.Args, name), argValue(id.Args, name)
		if have != want {
			return &MismatchError{Dir: dir, What: "argument " + name, Have: have, Want: want}
		}
	}
	return nil
}

func argValue(args map[string]string, name string) string {
	if v, ok := args[name]; ok {
		return strconv.Quote(v)
	}
	return notGiven
}
