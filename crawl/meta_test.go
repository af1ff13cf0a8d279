package crawl_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// TestMetaKinds is SER-01 for requests: what is put in is what comes back, from
// CopyMeta as from a queue.
func TestMetaKinds(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	for _, tc := range []struct {
		what     string
		in, want any
	}{
		{"int", 7, 7},
		{"large int", math.MaxInt64, math.MaxInt64},
		{"negative int", math.MinInt64, math.MinInt64},
		{"int64", int64(7), 7},
		{"int32", int32(-7), -7},
		{"whole float", 1.0, 1.0},
		{"negative zero", math.Copysign(0, -1), math.Copysign(0, -1)},
		{"float", 0.1, 0.1},
		{"large float", 1e300, 1e300},
		{"float like an int", 1e20, 1e20},
		{"small float", 5e-324, 5e-324},
		{"string", "a\"\n\u2028é", "a\"\n\u2028é"},
		{"invalid UTF-8", "a\xff", "a\uFFFD"},
		{"string like a time", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"},
		{"bool", true, true},
		{"nil", nil, nil},
		{"list", []any{1, 1.0, "a", nil}, []any{1, 1.0, "a", nil}},
		{"strings", []string{"a", "b"}, []any{"a", "b"}},
		{"ints", []int{1, 2}, []any{1, 2}},
		{"empty list", []any{}, []any{}},
		{"empty map", map[string]any{}, map[string]any{}},
		{"nested", map[string]any{"a": []any{map[string]any{"b": 1}}}, map[string]any{"a": []any{map[string]any{"b": 1}}}},
		{"odd keys", map[string]any{"": 1, "\"": 2, "é": 3}, map[string]any{"": 1, "\"": 2, "é": 3}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			in, want := map[string]any{"k": tc.in}, map[string]any{"k": tc.want}
			if got := store(t, c, &crawl.Request{URL: "u", Meta: in}).Meta; !reflect.DeepEqual(got, want) {
				t.Errorf("stored: got %#v, want %#v", got, want)
			}
			if got, err := crawl.CopyMeta(in); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("CopyMeta: got %#v, %v, want %#v", got, err, want)
			}
		})
	}
}

func TestMetaTimes(t *testing.T) {
	t.Parallel()
	lmt := time.FixedZone("LMT", 53*60+28) // as zones were before 1972
	for what, want := range map[string]time.Time{
		"UTC, nanoseconds":  time.Date(2024, 2, 29, 1, 2, 3, 456_789_012, time.UTC),
		"east":              time.Date(2024, 1, 1, 0, 0, 0, 1, time.FixedZone("", 5*3600+30*60)),
		"west":              time.Date(2024, 1, 1, 0, 0, 0, 0, time.FixedZone("", -8*3600)),
		"monotonic":         time.Now(),
		"zero":              {},
		"offset of seconds": time.Date(1880, 1, 1, 0, 0, 0, 0, lmt),
	} {
		m, err := crawl.CopyMeta(map[string]any{"l": []any{want}})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, ok := m["l"].([]any)[0].(time.Time)
		if !ok || !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", what, m, want)
		}
		_, gotOff := got.Zone()
		if _, off := want.Zone(); gotOff != off && want.Location() != lmt {
			t.Errorf("%s: got an offset of %d s, want %d", what, gotOff, off)
		}
	}
}

func TestMetaErrors(t *testing.T) {
	t.Parallel()
	deep := map[string]any{"a": []any{0, map[string]any{"b c": struct{}{}}}}
	for _, tc := range []struct {
		in   map[string]any
		want string
	}{
		{map[string]any{"$time": 1}, `Meta: the key "$time" is reserved`},
		{map[string]any{"a": map[string]any{"$time": 1}}, `Meta["a"]: the key "$time" is reserved`},
		{deep, `Meta["a"][1]["b c"] is a struct {}`},
		{map[string]any{"f": math.NaN()}, `Meta["f"] is NaN`},
		{map[string]any{"f": []any{math.Inf(-1)}}, `Meta["f"][0] is -Inf`},
		{map[string]any{"t": time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}, `Meta["t"]`},
		{map[string]any{"p": new(int)}, `Meta["p"] is a *int`},
		{map[string]any{"u": uint8(1)}, `Meta["u"] is a uint8`},
	} {
		if m, err := crawl.CopyMeta(tc.in); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("CopyMeta(%v) = %v, %v, want %q", tc.in, m, err, tc.want)
		}
	}
}

func TestCopyMetaIsACopy(t *testing.T) {
	t.Parallel()
	list, inner := []any{1}, map[string]any{"x": 1}
	m := map[string]any{"list": list, "inner": inner}
	got, err := crawl.CopyMeta(m)
	if err != nil {
		t.Fatal(err)
	}
	list[0], inner["x"], m["new"] = 2, 2, 2
	want := map[string]any{"list": []any{1}, "inner": map[string]any{"x": 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the copy changed with the original: got %v, want %v", got, want)
	}
	if got, err := crawl.CopyMeta(map[string]any{}); got != nil || err != nil {
		t.Errorf("CopyMeta of nothing = %v, %v, want nil", got, err)
	}
}
