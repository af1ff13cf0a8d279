package crawl_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// allArgs has an argument of every kind.
type allArgs struct {
	shop
	Base argBase
	hidden

	Text  string        `arg:"text" doc:"some text"`
	Yes   bool          `arg:"yes"`
	N     int           `arg:"n"`
	Small int8          `arg:"small"`
	Big   int64         `arg:"big"`
	U     uint16        `arg:"u"`
	F     float64       `arg:"f"`
	F32   float32       `arg:"f32"`
	D     time.Duration `arg:"d"`
	When  time.Time     `arg:"when"`
	Key   int           `arg:"key,secret"`
	List  []string      `arg:"list"`
	inner string        `arg:"inner"` //nolint:unused // it can not be set.
	Other string
}

type argBase struct {
	NotEmbedded string `arg:"not"`
}

type hidden struct {
	Shelf string `arg:"shelf"`
}

func argSpec() crawl.Spec {
	return crawl.Spec{Name: "shop", New: func() crawl.Spider { return &allArgs{} }}
}

func TestArgs(t *testing.T) {
	t.Parallel()
	var names []string
	for _, a := range argSpec().Args() {
		names = append(names, a.Name)
		if (a.Name == "key") != a.Secret || (a.Name == "text") != (a.Doc == "some text") {
			t.Errorf("got %+v, want key secret, text with its doc", a)
		}
	}
	want := []string{"shelf", "text", "yes", "n", "small", "big", "u", "f", "f32", "d", "when", "key", "list", "inner"}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	sp, errs := argSpec().Build(map[string]string{
		"shelf": "b", "text": "", "yes": "True", "n": "-3", "small": "127", "big": "9000000000", "u": "65535",
		"f": "1e3", "f32": "0.5", "d": "0.25", "when": "2024-01-02T03:04:05Z", "key": "7",
	})
	if errs != nil {
		t.Fatal(errs)
	}
	want := &allArgs{
		hidden: hidden{"b"}, Yes: true, N: -3, Small: 127, Big: 9_000_000_000, U: 65535, F: 1000, F32: 0.5,
		D: 250 * time.Millisecond, When: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), Key: 7,
	}
	if !reflect.DeepEqual(sp, crawl.Spider(want)) {
		t.Errorf("got %+v, want %+v", sp, want)
	}
}

func TestBuildDurations(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"250ms": 250 * time.Millisecond, "2": 2 * time.Second, "1h30m": 90 * time.Minute, "0": 0, "-1.5": -1500 * time.Millisecond,
	} {
		sp, errs := argSpec().Build(map[string]string{"d": value})
		if got := sp.(*allArgs).D; errs != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", value, got, errs, want)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, value, want string }{
		{"yes", "perhaps", `"perhaps" is neither true nor false`},
		{"n", "1.5", `"1.5" is no whole number`},
		{"small", "128", `too large`},
		{"u", "-1", `0 or more`},
		{"f", "x", `"x" is no number`},
		{"f32", "1e39", "too large"},
		{"d", "soon", `"soon" is no duration such as 250ms`},
		{"d", "NaN", "no duration"},
		{"d", "1e300", "no duration"},
		{"when", "today", "cannot parse"},
		{"inner", "x", "not exported"},
		{"tetx", "x", "is not known, did you mean text?"},
		{"zzzzzz", "x", "is not known (it takes big, d,"},
		{"not", "x", "is not known"},
	} {
		_, errs := argSpec().Build(map[string]string{tc.name: tc.value})
		var ae *crawl.ArgError
		if len(errs) != 1 || !errors.As(errs[0], &ae) {
			t.Fatalf("%s=%s: got %v, want one ArgError", tc.name, tc.value, errs)
		}
		if !strings.Contains(ae.Error(), "spider shop: argument "+tc.name) || !strings.Contains(ae.Error(), tc.want) {
			t.Errorf("%s=%s: got %q, want %q", tc.name, tc.value, ae, tc.want)
		}
	}
}

func TestBuildHidesSecrets(t *testing.T) {
	t.Parallel()
	_, errs := argSpec().Build(map[string]string{"key": "hunter2"})
	var ae *crawl.ArgError
	if len(errs) != 1 || !errors.As(errs[0], &ae) {
		t.Fatalf("got %v, want one ArgError", errs)
	}
	if strings.Contains(ae.Error()+ae.Value, "hunter2") {
		t.Errorf("%+v shows the secret", ae)
	}
}

func TestBuildReportsAllErrors(t *testing.T) {
	t.Parallel()
	_, errs := argSpec().Build(map[string]string{"n": "x", "what": "1", "f": "y", "text": "good"})
	if len(errs) != 3 {
		t.Errorf("got %v, want three errors", errs)
	}
}

// valueSpider is no pointer, so its fields can not be set.
type valueSpider struct {
	stranger
	X string `arg:"x"`
}

func TestBuildOfOddSpiders(t *testing.T) {
	t.Parallel()
	spec := crawl.Spec{Name: "v", New: func() crawl.Spider { return valueSpider{} }}
	if _, errs := spec.Build(map[string]string{"x": "1"}); len(errs) != 1 || !strings.Contains(errs[0].Error(), "New has to return a pointer") {
		t.Errorf("a spider that is no pointer: got %v", errs)
	}
	if _, errs := spec.Build(nil); errs != nil {
		t.Errorf("without arguments: got %v, want none", errs)
	}
	spec.New = func() crawl.Spider { return newShop(1) }
	if _, errs := spec.Build(map[string]string{"x": "1"}); len(errs) != 1 || !strings.Contains(errs[0].Error(), "takes no arguments") {
		t.Errorf("a spider without arguments: got %v", errs)
	}
}

type picky struct {
	stranger
	From int `arg:"from"`
	err  error
}

func (p *picky) Validate() error {
	if p.From > 10 {
		return p.err
	}
	return nil
}

func TestBuildValidates(t *testing.T) {
	t.Parallel()
	bad := &crawl.ArgError{Spider: "p", Arg: "from", Reason: "is more than 10"}
	spec := crawl.Spec{Name: "p", New: func() crawl.Spider { return &picky{err: bad} }}
	if _, errs := spec.Build(map[string]string{"from": "11"}); len(errs) != 1 || !errors.Is(errs[0], bad) {
		t.Errorf("got %v, want that of Validate", errs)
	}
	if _, errs := spec.Build(map[string]string{"from": "x"}); len(errs) != 1 || errors.Is(errs[0], bad) {
		t.Errorf("got %v, want the wrong argument alone", errs)
	}
	if _, errs := spec.Build(map[string]string{"from": "10"}); errs != nil {
		t.Errorf("got %v, want none", errs)
	}
}

type listArgs struct {
	stranger
	Tags  []string `arg:"tags"`
	Nums  []int    `arg:"nums"`
	Limit int      `arg:"limit,run"`
	Token string   `arg:"token,secret,run"`
}

func TestArgKinds(t *testing.T) {
	t.Parallel()
	spec := crawl.Spec{Name: "l", New: func() crawl.Spider { return &listArgs{} }}
	sp, errs := spec.Build(map[string]string{"tags": "a, b,,c"})
	if errs != nil || !slices.Equal(sp.(*listArgs).Tags, []string{"a", "b", "c"}) {
		t.Errorf("got %q, %v", sp.(*listArgs).Tags, errs)
	}
	if _, errs := spec.Build(map[string]string{"nums": "1"}); len(errs) != 1 || !strings.Contains(errs[0].Error(), "fields of type []int can not be arguments") {
		t.Errorf("got %v", errs)
	}
	for i, want := range []struct{ secret, run bool }{{}, {}, {false, true}, {true, true}} {
		if a := spec.Args()[i]; a.Secret != want.secret || a.Run != want.run {
			t.Errorf("%s: secret %v, run %v, want %+v", a.Name, a.Secret, a.Run, want)
		}
	}
}

type typo struct {
	stranger
	Key string `arg:"key,secrt"`
}

func TestArgOptionMisspelt(t *testing.T) {
	t.Parallel()
	spec := crawl.Spec{Name: "t", New: func() crawl.Spider { return &typo{} }}
	if _, errs := spec.Build(nil); len(errs) != 1 || !strings.Contains(errs[0].Error(), `"secrt"`) {
		t.Errorf("got %v, want an error that names the option", errs)
	}
}
