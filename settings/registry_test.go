package settings

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A component declares its settings so.
func init() { Declare(Def{Name: "EVERYWHERE", Default: 1, Help: "x"}) }

func TestDeclare(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	b := r.Builder().Assign("MY_LIMIT=7").Environ([]string{"CRAWL_MY_NAME=x"})
	if _, _, err := b.Build(); len(lines(err)) != 2 {
		t.Fatalf("before Declare: %v, want two errors", err)
	}
	r.Declare(Def{Name: "MY_LIMIT", Default: 1, Help: "x", Check: func(v any) error {
		if v.(int) > 9 {
			return errors.New("want one digit")
		}
		return nil
	}})
	r.Declare(Def{Name: "MY_NAME", Default: "", Help: "x", Secret: true})
	s, _, err := b.Build()
	if err != nil || s.Int("MY_LIMIT") != 7 || s.String("MY_NAME") != "x" {
		t.Fatalf("after Declare: %v, %v", s, err)
	}
	_, _, err = b.Assign("MY_LIMIT=10").Build()
	if want := `MY_LIMIT="10" (-s MY_LIMIT): want one digit`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A component brings a setting of Scrapy that was only known before.
func TestDeclareTakesOverUnsupported(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	exporters := Def{Name: "FEED_EXPORTERS", Default: map[string]any{}, Help: "x"}
	r.Declare(exporters)
	s, _, err := r.Builder().Assign(`FEED_EXPORTERS={"My.JSON": {"format": "json"}}`).Build()
	if err != nil || s.Map("FEED_EXPORTERS")["My.JSON"] == nil {
		t.Fatalf("FEED_EXPORTERS: %v", err)
	}
	panics(t, "again", "declared twice", func() { r.Declare(exporters) })
	panics(t, "unsupported again", "declared twice", func() {
		r.Declare(Def{Name: "FEED_EXPORTERS", Default: "", Status: Unsupported, Reason: "x"})
	})
}

func TestDeclarePanics(t *testing.T) {
	t.Parallel()
	for words, d := range map[string]Def{
		"declared twice":        {Name: "JOBDIR", Default: "", Help: "x"},
		"want a name":           {Name: "jobdir", Default: "", Help: "x"},
		"want a help text":      {Name: "A", Default: ""},
		"want a reason":         {Name: "A", Default: "", Status: Unsupported},
		"type <nil>":            {Name: "A", Help: "x"},
		"type uint8":            {Name: "A", Default: uint8(1), Help: "x"},
		"want a or b":           {Name: "A", Default: "c", Choices: []string{"a", "b"}, Help: "x"},
		"not in its plain form": {Name: "A", Default: []string(nil), Help: "x"},
		"at least 1":            {Name: "A", Default: 0, Check: atLeast(1, "a count"), Help: "x"},
	} {
		panics(t, words, words, func() { NewRegistry().Declare(d) })
	}
}

func TestOffer(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	if _, _, err := r.Builder().Assign("SCHEDULER=mine").Build(); err == nil {
		t.Error("SCHEDULER=mine is accepted before it is offered")
	}
	r.Offer("SCHEDULER", "mine")
	s, _, err := r.Builder().Assign("SCHEDULER=mine").Build()
	if err != nil || s.String("SCHEDULER") != "mine" {
		t.Errorf("after Offer: %v", err)
	}
	r.Offer("SCHEDULER", "default", "mine") // again
	_, _, err = r.Builder().Assign("SCHEDULER=min").Build()
	if want := `SCHEDULER="min" (-s SCHEDULER): want a name that this binary has: default or mine; did you mean mine?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	panics(t, "no choices", "no choices", func() { r.Offer("JOBDIR", "x") })
	panics(t, "closed", "no choices", func() { r.Offer("LOG_LEVEL", "x") })
	panics(t, "unknown", "no choices", func() { r.Offer("NOPE", "x") })
}

// The tables of the program and of a test are not the same.
func TestRegistriesAreApart(t *testing.T) {
	t.Parallel()
	NewRegistry().Declare(Def{Name: "ONLY_HERE", Default: 1, Help: "x"})
	if _, _, err := New().Assign("ONLY_HERE=2").Build(); err == nil {
		t.Error("a setting of another registry is known")
	}
	if _, _, err := New().Assign("EVERYWHERE=2").Build(); err != nil {
		t.Error(err)
	}
}

func TestRegistryIsConcurrent(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	var wg sync.WaitGroup
	for _, name := range []string{"A", "B", "C", "D"} {
		wg.Go(func() { r.Declare(Def{Name: name, Default: 1, Help: "x"}) })
		wg.Go(func() { r.Offer("SCHEDULER", strings.ToLower(name)) })
		wg.Go(func() {
			if _, _, err := r.Builder().Build(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, _, err := r.Builder().Assign("A=2").Assign("SCHEDULER=d").Build(); err != nil {
		t.Error(err)
	}
}

// The texts that users read are sentences, and every default is documented.
func TestTexts(t *testing.T) {
	t.Parallel()
	var names []string
	for d := range NewRegistry().Defs() {
		names = append(names, d.Name)
		if d.Status == Supported && (!strings.HasSuffix(d.Help, ".") || d.Reason != "") {
			t.Errorf("%s: help %q, reason %q", d.Name, d.Help, d.Reason)
		}
		if d.Status == Unsupported && (strings.HasSuffix(d.Reason, ".") || strings.Contains(d.Reason, "\n")) {
			t.Errorf("%s: reason %q", d.Name, d.Reason)
		}
	}
	if !slices.IsSorted(names) {
		t.Error("Defs is not in name order")
	}
	if got := Supported.String() + " " + Unsupported.String(); got != "supported unsupported" {
		t.Errorf("statuses are called %q", got)
	}
}
