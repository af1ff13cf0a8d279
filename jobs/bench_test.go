package jobs_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/skeincrawl/skein/jobs"
)

func benchJob(b *testing.B, dir string, visit func(jobs.Op) error) *jobs.Job {
	b.Helper()
	j, err := jobs.Open(jobs.OS(), filepath.Join(dir, "job"), identity(), jobs.Options{SyncInterval: jobs.DefaultSyncInterval})
	if err != nil {
		b.Fatal(err)
	}
	sink := &fileSink{fs: jobs.OS(), name: filepath.Join(dir, "items.jl")}
	mustRecover(b, j, []jobs.Feed{{Name: "items", Sink: sink}}, visit)
	return j
}

func benchRecord(n int) jobs.Record {
	return jobs.Record{Slot: "www.example.com", Priority: -3, Body: bytes.Repeat([]byte("b"), n)}
}

// BenchmarkCommit is one step: 20 pushes of 470 bytes, an ack, an item of 200 bytes.
func BenchmarkCommit(b *testing.B) {
	j := benchJob(b, b.TempDir(), nil)
	rec, item := benchRecord(470), bytes.Repeat([]byte("i"), 200)
	b.ReportAllocs()
	for b.Loop() {
		tx := j.Begin()
		var a jobs.Addr
		for i := range 20 {
			rec.Fingerprint[0] = byte(i)
			a = tx.Push(rec)
		}
		tx.Ack(a)
		tx.Feed(0, item)
		mustCommit(b, tx)
	}
	b.StopTimer()
	b.ReportMetric(float64(j.Stats().Syncs)/b.Elapsed().Seconds(), "syncs/s")
	mustClose(b, j, jobs.End{})
}

// BenchmarkReplay opens and recovers a job with a million records of 500 bytes.
func BenchmarkReplay(b *testing.B) {
	const records = 1_000_000
	dir := b.TempDir()
	j := benchJob(b, dir, nil)
	rec := benchRecord(450)
	for i := range records / 20 {
		tx := j.Begin()
		for range 20 {
			tx.Push(rec)
		}
		tx.Feed(0, fmt.Appendf(nil, "%d\n", i))
		mustCommit(b, tx)
	}
	mustClose(b, j, jobs.End{})
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		j := benchJob(b, dir, func(o jobs.Op) error {
			if o.Kind == jobs.OpPush {
				n++
			}
			return nil
		})
		if n != records {
			b.Fatalf("replayed %d records, want %d", n, records)
		}
		mustClose(b, j, jobs.End{})
	}
}

// BenchmarkRead reads a body back from the file.
func BenchmarkRead(b *testing.B) {
	j := benchJob(b, b.TempDir(), nil)
	rec := benchRecord(470)
	var addrs []jobs.Addr
	for range 1000 {
		tx := j.Begin()
		for range 20 {
			addrs = append(addrs, tx.Push(rec))
		}
		mustCommit(b, tx)
	}
	if err := j.Flush(); err != nil {
		b.Fatal(err)
	}
	var buf []byte
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = j.Read(addrs[i*7919%len(addrs)], buf[:0]); err != nil {
			b.Fatal(err)
		}
		i++
	}
	mustClose(b, j, jobs.End{})
}
