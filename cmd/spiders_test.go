package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// shop reads the products of a crawltest.Site and follows all links.
type shop struct {
	Site     string `arg:"site" doc:"where it is"`
	Category string `arg:"category" doc:"what to look for"`
	Limit    int    `arg:"limit"`
	Token    string `arg:"token,secret" doc:"to log in with"`
}

type product struct {
	Page  string `json:"page"`
	Title string `json:"title"`
	Price string `json:"price"`
}

// Start begins at the first page.
func (s *shop) Start(_ context.Context, out crawl.Out) error {
	out.Request(&crawl.Request{URL: s.Site + "/p/0"})
	return nil
}

// Parse reads a product.
func (s *shop) Parse(_ context.Context, r *crawl.Response, out crawl.Out) error {
	out.Item(product{Page: r.URL[len(s.Site):], Title: r.CSS("h1.name::text").Get(), Price: r.CSS("span.price::text").Get()})
	for _, a := range r.CSS("a::attr(href)").All() {
		out.Follow(a, nil)
	}
	return nil
}

// tally counts its pages in a state that survives a stop.
type tally struct {
	shop
	state struct{ Pages int }
}

// State returns the state.
func (s *tally) State() any { return &s.state }

// Parse counts a product and reads it.
func (s *tally) Parse(ctx context.Context, r *crawl.Response, out crawl.Out) error {
	crawl.UpdateState(out, func(state *struct{ Pages int }) { state.Pages++ })
	return s.shop.Parse(ctx, r, out)
}

// memo counts its pages in a state of free form, and keeps when the last came.
type memo struct {
	shop
	state crawl.Values
}

// State returns the state.
func (m *memo) State() any { return &m.state }

// Parse counts a product and reads it.
func (m *memo) Parse(ctx context.Context, r *crawl.Response, out crawl.Out) error {
	crawl.UpdateState(out, func(state *crawl.Values) {
		pages, _ := (*state)["pages"].(int)
		(*state)["pages"], (*state)["last"] = pages+1, time.Now()
	})
	return m.shop.Parse(ctx, r, out)
}

// broken fails in each callback.
type broken struct{ shop }

// Parse fails.
func (b *broken) Parse(context.Context, *crawl.Response, crawl.Out) error {
	return errors.New("cannot read this page")
}

// unready fails before its first request.
type unready struct {
	shop
	At string `arg:"at"` // where; "" for Start
}

// Validate may fail.
func (u *unready) Validate() error {
	if u.At == "arguments" {
		return errors.New("there is no such list of shops")
	}
	return nil
}

// Open may fail.
func (u *unready) Open(context.Context, *crawl.Env) error {
	if u.At == "open" {
		return errors.New("the database of shops is down")
	}
	return nil
}

// Start fails.
func (u *unready) Start(context.Context, crawl.Out) error {
	return errors.New("the list of shops is gone")
}

// echo emits its arguments.
type echo struct {
	Text string `arg:"text"`
}

// Start emits one item.
func (e *echo) Start(_ context.Context, out crawl.Out) error {
	out.Item(map[string]any{"text": e.Text})
	return nil
}

// Parse is never called.
func (e *echo) Parse(context.Context, *crawl.Response, crawl.Out) error { return nil }

// shown emits the values of a few settings.
type shown struct{ echo }

// Open makes an item of the settings.
func (s *shown) Open(_ context.Context, env *crawl.Env) error {
	s.Text = ""
	for _, name := range []string{"CONCURRENT_REQUESTS", "DOWNLOAD_DELAY", "RETRY_TIMES", "DEPTH_LIMIT"} {
		v, _ := env.Settings.Lookup(name)
		s.Text += fmt.Sprintf("%s=%s (%s) ", name, v, v.Source)
	}
	return nil
}

func registerSpiders() {
	registerDemo()
	plain := map[string]any{"CONCURRENT_REQUESTS_PER_DOMAIN": 16, "RETRY_ENABLED": false}
	for _, s := range []crawl.Spec{
		{Name: "shop", Doc: "Reads the products of a shop.", Settings: plain, New: func() crawl.Spider { return &shop{} }},
		{Name: "tally", Settings: plain, New: func() crawl.Spider { return &tally{} }},
		{Name: "memo", Settings: plain, New: func() crawl.Spider { return &memo{state: crawl.Values{}} }},
		{Name: "homed", Settings: map[string]any{"JOBDIR": "crawls/%(name)s"}, New: func() crawl.Spider { return &shop{} }},
		{Name: "broken", Settings: plain, New: func() crawl.Spider { return &broken{} }},
		{Name: "unready", Settings: plain, New: func() crawl.Spider { return &unready{} }},
		{Name: "echo", Doc: "Emits an item.", New: func() crawl.Spider { return &echo{} }},
		{
			Name: "shown", New: func() crawl.Spider { return &shown{} },
			Settings: map[string]any{"DOWNLOAD_DELAY": 2, "RETRY_TIMES": 7, "DEPTH_LIMIT": 3, "NO_SUCH_THING": 1},
			Configure: func(l *settings.Layer) error {
				l.Set("DEPTH_LIMIT", 4)
				return nil
			},
		},
	} {
		crawl.Register(s)
	}
}
