package feedstest

import (
	"bytes"
	"testing"

	"github.com/skeincrawl/skein/feeds"
)

// goesOn stops a feed behind each of its items, with a tail and without, and
// goes on with another exporter: in the end it must be the feed that one
// exporter writes.
func goesOn(t *testing.T, open func() (feeds.Exporter, error)) {
	whole := &writer{t: t}
	whole.open(open)
	for _, item := range good() {
		whole.add(item)
	}
	whole.tail()
	for stop := range len(good()) + 1 {
		for _, clean := range []bool{true, false} {
			w := &writer{t: t}
			w.open(open)
			for i, item := range good() {
				if i == stop {
					w.stop(clean)
					w.open(open)
				}
				w.add(item)
			}
			if stop == len(good()) {
				w.stop(clean)
				w.open(open)
			}
			w.tail()
			if !bytes.Equal(w.feed, whole.feed) {
				t.Errorf("stopped after %d items, with a tail %v:\n got %.300q\nwant %.300q", stop, clean, w.feed, whole.feed)
			}
		}
	}
}

// writer writes a feed as a job does.
type writer struct {
	t         *testing.T
	e         feeds.Exporter
	feed      []byte
	committed int
}

// open begins a run: what is there was cut to the committed length, or must be
// found out from what it holds.
func (w *writer) open(open func() (feeds.Exporter, error)) {
	w.t.Helper()
	var err error
	if w.e, err = open(); err != nil {
		w.t.Fatal(err)
	}
	if o, ok := w.e.(feeds.Opener); ok && len(w.feed) > 0 {
		if err := o.Open(bytes.NewReader(w.feed), int64(len(w.feed))); err != nil {
			w.t.Fatalf("Open of %.300q: %v", w.feed, err)
		}
	}
}

func (w *writer) add(item any) {
	w.t.Helper()
	one, err := w.e.AppendItem(nil, item)
	if err != nil {
		w.t.Fatal(err)
	}
	if f, ok := w.e.(feeds.Framer); ok {
		lead := f.Separator()
		if len(w.feed) == 0 {
			lead = f.Head()
		}
		w.feed = append(w.feed, lead...)
	}
	w.feed = append(w.feed, one...)
	w.committed = len(w.feed)
}

func (w *writer) tail() {
	f, ok := w.e.(feeds.Framer)
	if !ok {
		return
	}
	tail := f.Tail()
	if len(w.feed) == 0 && len(tail) > 0 {
		w.feed = append(w.feed, f.Head()...)
	}
	w.feed = append(w.feed, tail...)
}

// stop ends a run. After a clean end the feed is looked at as one that nothing
// is known of; else it is cut to what is committed.
func (w *writer) stop(clean bool) {
	w.t.Helper()
	if !clean {
		w.feed = w.feed[:w.committed]
		return
	}
	w.tail()
	size := int64(len(w.feed))
	c, ok := w.e.(feeds.Continuer)
	if !ok || size == 0 {
		return
	}
	n, err := c.Continue(bytes.NewReader(w.feed), size)
	if err != nil || n != int64(w.committed) {
		w.t.Fatalf("Continue of %.300q: %d, %v, want %d", w.feed, n, err, w.committed)
	}
	w.feed = w.feed[:n]
}
