package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// priced is an item that wants a price.
type priced struct{ price string }

func (p priced) MarshalJSON() ([]byte, error) {
	if p.price == "" {
		return nil, crawl.Drop("no price")
	}
	return []byte(`{"url":"` + p.price + `"}`), nil
}

func TestItemDropsItself(t *testing.T) {
	srv := site(t, map[string]string{"/": "root"})
	s := &script{}
	s.start = func(_ *script, out crawl.Out) { out.Request(&crawl.Request{URL: srv.URL + "/"}) }
	s.parse = func(_ context.Context, _ *script, _ *crawl.Response, out crawl.Out) error {
		out.Item(priced{"1"})
		out.Item(priced{})
		out.Item(priced{"2"})
		return nil
	}
	var dropped atomic.Int32
	probe := &script{start: s.start, parse: s.parse}
	o := options(t, crawl.Spec{Name: "drop", New: func() crawl.Spider { return &opening{script: probe, dropped: &dropped} }})
	file := t.TempDir() + "/out.jsonl"
	o.Feeds = append(o.Feeds, target(t, file))
	e := mustNew(t, o)
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := items(t, file); len(got) != 2 || dropped.Load() != 1 {
		t.Errorf("%d items and %d dropped, want 2 and 1", len(got), dropped.Load())
	}
	if n := e.Stats()["item_dropped_count"]; n != nil && n != int64(1) {
		t.Errorf("item_dropped_count = %v", n)
	}
}

// opening is a script that counts dropped items.
type opening struct {
	*script
	dropped *atomic.Int32
}

func (o *opening) Open(_ context.Context, env *crawl.Env) error {
	crawl.On(env.Signals, func(context.Context, crawl.ItemDropped) error { o.dropped.Add(1); return nil })
	return nil
}
