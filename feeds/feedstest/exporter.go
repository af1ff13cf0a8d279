package feedstest

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/feeds"
)

// product is an item of most kinds of fields.
type product struct {
	Name  string
	Price float64
	Tags  []string
	More  map[string]int
}

// good are items that every format holds.
func good() []any {
	return []any{
		crawl.Record{{Name: "url", Value: "https://shop.test/?a=1&b=<2>"}, {Name: "n", Value: 3}, {Name: "none", Value: nil}},
		map[string]any{"name": "Größe 日本 \"quoted\"\n\x00", "ok": true},
		product{Name: "Lamp", Price: 3.5, Tags: []string{"a", "b"}, More: map[string]int{"x": 1}},
		&product{Name: strings.Repeat("long ", 1000)},
	}
}

// bad are items that no format holds.
func bad() []any {
	return []any{
		nil,
		make(chan int),
		func() {},
		crawl.Record{{Name: "first", Value: "written"}, {Name: "bad", Value: make(chan int)}},
		map[string]any{"f": math.NaN(), "g": func() {}},
	}
}

// Exporter proves the contract of [feeds.Exporter], and of [feeds.Framer],
// [feeds.Opener] and [feeds.Continuer] where the exporter has them. Each call of
// open returns a new exporter for a feed of its own.
func Exporter(t *testing.T, open func() (feeds.Exporter, error)) {
	e, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("appends", func(t *testing.T) { appends(t, e) })
	t.Run("whole or nothing", func(t *testing.T) { wholeOrNothing(t, e) })
	t.Run("concurrent", func(t *testing.T) { concurrent(t, e) })
	t.Run("goes on", func(t *testing.T) { goesOn(t, open) })
}

func appends(t *testing.T, e feeds.Exporter) {
	var all, alone []byte
	for i, item := range good() {
		var err error
		if all, err = e.AppendItem(all, item); err != nil {
			t.Fatalf("item %d: %v", i, err)
		}
		one, err := e.AppendItem(make([]byte, 0, 1), item)
		if err != nil || len(one) == 0 {
			t.Fatalf("item %d alone: %q, %v", i, one, err)
		}
		alone = append(alone, one...)
		clear(one) // an exporter that keeps what it returned gives itself away
	}
	if !bytes.Equal(all, alone) {
		t.Errorf("one buffer holds %q, single ones %q", all, alone)
	}
}

func wholeOrNothing(t *testing.T, e feeds.Exporter) {
	prefix := []byte("before ")
	for _, item := range bad() {
		for _, spare := range []int{0, 1 << 10} {
			dst := append(make([]byte, 0, len(prefix)+spare), prefix...)
			got, err := e.AppendItem(dst, item)
			if err == nil {
				t.Errorf("item of type %T was taken: %q", item, got)
				continue
			}
			if !bytes.Equal(got, prefix) {
				t.Errorf("item of type %T: returned %q with the error, want %q", item, got, prefix)
			}
			if name := fmt.Sprintf("%T", item); !strings.Contains(err.Error(), name) {
				t.Errorf("the error does not name the type %s: %v", name, err)
			}
			after, err := e.AppendItem(got, good()[0])
			if err != nil || !bytes.HasPrefix(after, prefix) {
				t.Errorf("a good item after one of type %T: %q, %v", item, after, err)
			}
		}
	}
}

func concurrent(t *testing.T, e feeds.Exporter) {
	var want []byte
	for _, item := range good() {
		want, _ = e.AppendItem(want, item)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var got []byte
			for range 20 {
				got = got[:0]
				for i, item := range good() {
					var err error
					if got, err = e.AppendItem(got, item); err != nil {
						t.Errorf("item %d: %v", i, err)
					}
					_, _ = e.AppendItem(nil, bad()[i])
				}
				if !bytes.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}
