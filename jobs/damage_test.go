package jobs_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/faultfs"
	"github.com/skeincrawl/skein/jobs"
)

func segmentPath(n int) string {
	return fmt.Sprintf("%s/requests.queue/seg-%08d.g1.log", jobDir, n)
}

// numbered makes steps that say their number.
func numbered(t testing.TB, j *jobs.Job, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		tx := j.Begin()
		tx.Push(jobs.Record{Slot: "s", Body: []byte(strings.Repeat("b", 100))})
		tx.Set("n", []byte(strconv.Itoa(i)))
		mustCommit(t, tx)
	}
}

// journal makes an unclean job: steps 1 to 10 are vouched for by a mark, 11 and
// 12 are synced, 13 and 14 only written. It returns the length of the journal
// with the first 10 steps and their mark, and with all.
func journal(t testing.TB, segment int64) (fsys *faultfs.FS, vouched, all int64) {
	t.Helper()
	fsys = faultfs.New()
	j := mustOpen(t, fsys, manual(segment))
	mustRecover(t, j, nil, nil)
	for _, steps := range [][2]int{{1, 10}, {11, 12}} {
		numbered(t, j, steps[0], steps[1])
		if err := j.Barrier(); err != nil {
			t.Fatal(err)
		}
		if vouched == 0 {
			vouched = int64(len(content(t, fsys, segmentPath(1))))
		}
	}
	numbered(t, j, 13, 14)
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	killed := fsys.Kill()
	abandon(t, j)
	fsys = killed
	return fsys, vouched, int64(len(content(t, killed, segmentPath(1))))
}

// lastStep opens and recovers, and returns the number of the last step.
func lastStep(t testing.TB, fsys jobs.FS) (int, jobs.Recovery, error) {
	t.Helper()
	j, err := jobs.Open(fsys, jobDir, identity(), manual(0))
	if err != nil {
		return 0, jobs.Recovery{}, err
	}
	s := newState()
	r := mustRecover(t, j, nil, s.visit)
	mustClose(t, j, jobs.End{})
	n, _ := strconv.Atoi(s.meta["n"])
	return n, r, nil
}

// TestBitFlips: damage below the last vouched position is refused with file
// and offset; above it, it is a torn tail.
func TestBitFlips(t *testing.T) {
	t.Parallel()
	base, vouched, all := journal(t, 0)
	whole := content(t, base, segmentPath(1))
	if n, r, err := lastStep(t, base.Kill()); n != 14 || err != nil || len(r.Warnings) > 0 {
		t.Fatalf("undamaged: got step %d, %v, %v, want 14", n, r.Warnings, err)
	}
	for at := int64(0); at < all; at += 7 {
		fsys := base.Kill()
		b := []byte(whole)
		b[at] ^= 0x10
		if err := fsys.WriteFile(segmentPath(1), b); err != nil {
			t.Fatal(err)
		}
		n, r, err := lastStep(t, fsys)
		if at < vouched {
			var damage *jobs.DamageError
			if !errors.As(err, &damage) || !errors.Is(err, jobs.ErrUnusable) ||
				damage.File != segmentPath(1) || damage.Offset > at || damage.Offset < at-300 {
				t.Fatalf("byte %d of %d flipped: got %v, want a DamageError near it", at, vouched, err)
			}
			continue
		}
		if err != nil || n < 10 || n > 13 || r.CutBytes < all-at || len(r.Warnings) != 1 || r.Clean {
			t.Fatalf("byte %d flipped: got step %d, %+v, %v, want a cut", at, n, r, err)
		}
		if _, again, err := lastStep(t, fsys); err != nil || again.CutBytes != 0 {
			t.Fatalf("byte %d flipped, second time: got %+v, %v, want no cut", at, again, err)
		}
	}
}

// TestTornTails is scrapy#3413: a journal that lost its last bytes, or has zeros
// there, goes on from its last whole step.
func TestTornTails(t *testing.T) {
	t.Parallel()
	base, vouched, all := journal(t, 0)
	whole := content(t, base, segmentPath(1))
	for n := vouched + 200; n < all; n += 5 {
		for name, tail := range map[string]string{"cut": "", "zeros": strings.Repeat("\x00", 5000)} {
			fsys := base.Kill()
			if err := fsys.WriteFile(segmentPath(1), []byte(whole[:n]+tail)); err != nil {
				t.Fatal(err)
			}
			step, r, err := lastStep(t, fsys)
			if err != nil || step < 11 || step > 13 {
				t.Fatalf("%s at %d of %d: got step %d, %+v, %v", name, n, all, step, r, err)
			}
			if tail != "" && (r.CutBytes < 4900 || !strings.Contains(r.Warnings[0], strconv.FormatInt(r.CutBytes, 10)+" bytes")) {
				t.Fatalf("%s at %d: got %+v, want a warning with the bytes", name, n, r)
			}
		}
	}
}

// TestDamageAcrossSegments: what vouches may lie in a later segment, and a
// whole segment may be missing.
func TestDamageAcrossSegments(t *testing.T) {
	t.Parallel()
	base, _, _ := journal(t, 1<<10)
	for name, c := range map[string]struct {
		change func(fsys *faultfs.FS) error
		file   int
	}{
		"segment missing": {func(fsys *faultfs.FS) error { return fsys.Remove(segmentPath(1)) }, 1},
		"segment empty":   {func(fsys *faultfs.FS) error { return fsys.WriteFile(segmentPath(1), nil) }, 1},
		"end lost": {func(fsys *faultfs.FS) error {
			b := content(t, fsys, segmentPath(1))
			return fsys.WriteFile(segmentPath(1), []byte(b[:len(b)-17]))
		}, 1},
		"header": {func(fsys *faultfs.FS) error {
			b := []byte(content(t, fsys, segmentPath(1)))
			b[20] ^= 1
			return fsys.WriteFile(segmentPath(1), b)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := base.Kill()
			if err := c.change(fsys); err != nil {
				t.Fatal(err)
			}
			_, _, err := lastStep(t, fsys)
			var damage *jobs.DamageError
			if !errors.As(err, &damage) || damage.File != segmentPath(c.file) {
				t.Errorf("got %v, want a DamageError in segment %d", err, c.file)
			}
		})
	}
}

// reframe writes a segment of one frame with the given operations.
func reframe(t *testing.T, fsys *faultfs.FS, change func(header []byte) []byte) {
	t.Helper()
	b := []byte(content(t, fsys, segmentPath(1)))
	n := 16 + binary.LittleEndian.Uint32(b)
	frame := jobs.AppendFrame(nil, binary.LittleEndian.Uint64(b[8:]), change(b[16:n]))
	if err := fsys.WriteFile(segmentPath(1), append(frame, b[n:]...)); err != nil {
		t.Fatal(err)
	}
}

func TestJournalOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   string
	}{
		"format version":  {func(h []byte) []byte { h[9] = 3; return h }, "format version 3"},
		"earlier version": {func(h []byte) []byte { h[9] = 1; return h }, "format version 1, of an earlier program"},
		"operation":       {func(h []byte) []byte { return append(slices.Clip(h), 0x66, 0) }, "operation code 0x66"},
		"skippable":       {func(h []byte) []byte { return append(slices.Clip(h), 0x86, 3, 'a', 'b', 'c') }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, _, _ := journal(t, 0)
			reframe(t, fsys, c.change)
			n, _, err := lastStep(t, fsys)
			if c.want == "" {
				if err != nil || n != 14 {
					t.Errorf("got step %d, %v, want 14", n, err)
				}
				return
			}
			var version *jobs.VersionError
			if !errors.As(err, &version) || !errors.Is(err, jobs.ErrUnusable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a VersionError with %q", err, c.want)
			}
		})
	}
}

// FuzzOpen: whatever is in the journal, Open refuses it or Recover repairs it,
// and then it is whole.
func FuzzOpen(f *testing.F) {
	base, vouched, _ := journal(f, 0)
	whole := content(f, base, segmentPath(1))
	f.Add([]byte(whole))
	f.Add([]byte(whole[:vouched]))
	f.Add([]byte(whole[:100] + whole[130:]))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := base.Kill()
		if err := fsys.WriteFile(filepath.Clean(segmentPath(1)), b); err != nil {
			t.Fatal(err)
		}
		if _, _, err := lastStep(t, fsys); err != nil {
			if !errors.Is(err, jobs.ErrUnusable) {
				t.Fatalf("got %v, want ErrUnusable", err)
			}
			return
		}
		if _, r, err := lastStep(t, fsys); err != nil || r.CutBytes != 0 || !r.Clean {
			t.Fatalf("second time: %+v, %v", r, err)
		}
	})
}
