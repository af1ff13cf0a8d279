package extensions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// messages returns the messages of a log, each with its level.
func messages(t *testing.T, log *bytes.Buffer) []string {
	t.Helper()
	var got []string
	for s := bufio.NewScanner(log); s.Scan(); {
		var line struct{ Level, Logger, Message string }
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("log line %q: %v", s.Text(), err)
		}
		got = append(got, line.Level+" "+line.Logger+" "+line.Message)
	}
	return got
}

// PL-03.
func TestLogStatsIsOffWithoutInterval(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t, "LOGSTATS_INTERVAL=0")
	if ext := build(t, "logstats", env); ext != nil {
		t.Errorf("got %v, want nothing to run", ext)
	}
	send(t, env, crawl.SpiderClosed{})
	if got := env.Stats.Snapshot(); len(got) != 0 {
		t.Errorf("stats = %v, want none", got)
	}
}

func TestLogStatsLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, log := testEnv(t, "LOGSTATS_INTERVAL=30")
		build(t, "corestats", env)
		l := build(t, "logstats", env)
		send(t, env, crawl.SpiderOpened{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		synctest.Wait() // the first line does not wait for the interval
		env.Stats.Add("response_received_count", 7)
		env.Stats.Add("item_scraped_count", 5)
		time.Sleep(31 * time.Second)
		env.Stats.Add("response_received_count", 1)
		time.Sleep(30 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		want := []string{
			"info logstats Crawled 0 pages (at 0 pages/min), scraped 0 items (at 0 items/min)",
			"info logstats Crawled 7 pages (at 14 pages/min), scraped 5 items (at 10 items/min)",
			"info logstats Crawled 8 pages (at 2 pages/min), scraped 5 items (at 0 items/min)",
		}
		if got := messages(t, log); !slices.Equal(got, want) {
			t.Errorf("log:\n got %q\nwant %q", got, want)
		}
	})
}

func TestLogStatsRatesAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		after        time.Duration
		pages, items any
	}{
		{"under a second", 900 * time.Millisecond, nil, nil},
		{"whole seconds", 30*time.Second + 900*time.Millisecond, 20.0, 6.0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env, _ := testEnv(t)
				build(t, "logstats", env)
				send(t, env, crawl.SpiderOpened{})
				env.Stats.Add("response_received_count", 10)
				env.Stats.Add("item_scraped_count", 3)
				time.Sleep(tc.after)
				send(t, env, crawl.SpiderClosed{})
				if got := env.Stats.Get("responses_per_minute"); got != tc.pages {
					t.Errorf("responses_per_minute = %v, want %v", got, tc.pages)
				}
				if got := env.Stats.Get("items_per_minute"); got != tc.items {
					t.Errorf("items_per_minute = %v, want %v", got, tc.items)
				}
				if _, ok := env.Stats.Snapshot()["items_per_minute"]; !ok {
					t.Error("items_per_minute is not in the statistics")
				}
			})
		})
	}
}
