package crawl_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	var e crawl.Env
	value := []byte("1")
	e.Keep("a", func() []byte { return value })
	e.Keep("broken", func() []byte { panic("no value") })
	e.Keep("empty", func() []byte { return []byte{} })
	e.Keep("b", func() []byte { return []byte("2") })
	got, err := e.Notes()
	if want := []crawl.Note{{Key: "a", Value: []byte("1")}, {Key: "empty", Value: []byte{}}, {Key: "b", Value: []byte("2")}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err == nil || !strings.Contains(err.Error(), "note broken: panic: no value") {
		t.Errorf("error %v, want one that names the component", err)
	}
	value = nil
	if got, _ := e.Notes(); len(got) != 2 {
		t.Errorf("got %q, want those that are new", got)
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	var e crawl.Env
	if got := e.Kept("a"); got != nil {
		t.Errorf("a first run kept %q", got)
	}
	e.Restore(map[string][]byte{"a": []byte("1")})
	if a, b := e.Kept("a"), e.Kept("b"); string(a) != "1" || b != nil {
		t.Errorf("kept %q and %q, want 1 and nothing", a, b)
	}
}

func TestKeepTwice(t *testing.T) {
	t.Parallel()
	defer func() {
		if v, _ := recover().(string); !strings.Contains(v, `"stats"`) {
			t.Errorf("recovered %q, want a panic that names the note", v)
		}
	}()
	var e crawl.Env
	e.Keep("stats", func() []byte { return nil })
	e.Keep("stats", func() []byte { return nil })
}
