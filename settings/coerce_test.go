package settings

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// coerceCase is one spelling of a value. A bad one has an empty good and the
// words that the message must hold.
type coerceCase struct {
	name string
	def  Def
	raw  any
	good any
	bad  string
}

func runCoerce(t *testing.T, cases []coerceCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			raw, err := canonical(c.raw)
			var got any
			if err == nil {
				got, err = c.def.parse(raw)
			}
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Fatalf("parse(%#v) = %#v, %v; want an error with %q", c.raw, got, err, c.bad)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.good) {
				t.Fatalf("parse(%#v) = %#v, %v; want %#v", c.raw, got, err, c.good)
			}
		})
	}
}

// ST-01: Scrapy's switches; on and off are no values of one.
func TestCoerceBool(t *testing.T) {
	t.Parallel()
	d := Def{Default: false}
	var cases []coerceCase
	for _, raw := range []any{"True", "true", "TRUE", "1", 1, true, "yes", " Yes "} {
		cases = append(cases, coerceCase{"yes " + Format(raw), d, raw, true, ""})
	}
	for _, raw := range []any{"False", "false", "0", 0, false, "no", "None", nil} {
		cases = append(cases, coerceCase{"no " + Format(raw), d, raw, false, ""})
	}
	for _, raw := range []any{"on", "off", "", "2", 2, "maybe", 1.5, []string{"True"}} {
		cases = append(cases, coerceCase{"bad " + Format(raw), d, raw, nil, "want True or False"})
	}
	runCoerce(t, cases)
}

// ST-02: numbers are read whole or not at all.
func TestCoerceNumbers(t *testing.T) {
	t.Parallel()
	n, f, off := Def{Default: 0}, Def{Default: 0.0}, Def{Default: 0, ZeroIsOff: true}
	runCoerce(t, []coerceCase{
		{"int text", n, "123", 123, ""},
		{"int spaces", n, " 7 ", 7, ""},
		{"int negative", n, "-1", -1, ""},
		{"int from a whole float", n, 16.0, 16, ""},
		{"int from uint8", n, uint8(5), 5, ""},
		{"int trailing letters", n, "12abc", nil, "want a whole number"},
		{"int fraction", n, 1.5, nil, "want a whole number"},
		{"int too large", n, "99999999999999999999", nil, "want a whole number"},
		{"int from uint64 too large", n, uint64(math.MaxUint64), nil, "uint64 cannot be a setting"},
		{"int empty", n, "", nil, "want a whole number"},
		{"int None", n, "None", nil, "want a whole number"},
		{"int bool", n, true, nil, "want a whole number"},
		{"int NaN", n, math.NaN(), nil, "want a whole number"},
		{"off empty", off, "", 0, ""},
		{"off None", off, "None", 0, ""},
		{"off nil", off, nil, 0, ""},
		{"float text", f, "123.45", 123.45, ""},
		{"float from int", f, 2, 2.0, ""},
		{"float NaN", f, "NaN", nil, "want a number"},
		{"float Inf", f, math.Inf(1), nil, "want a number"},
		{"float words", f, "much", nil, "want a number"},
		{"func", n, func() {}, nil, "cannot be a setting"},
	})
}

func TestCoerceDuration(t *testing.T) {
	t.Parallel()
	d, off := Def{Default: time.Duration(0)}, Def{Default: time.Duration(0), ZeroIsOff: true}
	cases := []coerceCase{
		{"seconds text", d, "0.25", 250 * time.Millisecond, ""},
		{"seconds float", d, 0.25, 250 * time.Millisecond, ""},
		{"seconds int", d, 3, 3 * time.Second, ""},
		{"unit", d, "250ms", 250 * time.Millisecond, ""},
		{"units", d, "1m30s", 90 * time.Second, ""},
		{"exact tenth", d, "0.1", 100 * time.Millisecond, ""},
		{"zero", d, "0", time.Duration(0), ""},
		{"duration", d, 5 * time.Second, 5 * time.Second, ""},
		{"off", off, "", time.Duration(0), ""},
		{"off None", off, nil, time.Duration(0), ""},
	}
	for _, raw := range []any{"-1", "-250ms", -1, -0.5, -time.Second, "NaN", "inf", math.Inf(1), math.NaN(), "fast", "1e300", "1e-12", "", nil, "1 s", true} {
		cases = append(cases, coerceCase{"bad " + Format(raw), d, raw, nil, "want seconds such as 0.25 or a duration such as 250ms"})
	}
	runCoerce(t, cases)
}

func TestCoerceSize(t *testing.T) {
	t.Parallel()
	d := Def{Default: int64(0)}
	cases := []coerceCase{
		{"off", Def{Default: int64(0), ZeroIsOff: true}, "None", int64(0), ""},
		{"float", d, 1e9, int64(1e9), ""},
		{"int", d, 12, int64(12), ""},
	}
	for text, good := range map[string]int64{
		"1048576": 1 << 20, "0": 0, "1KiB": 1 << 10, "64MiB": 64 << 20, "2 GiB": 2 << 30, "1.5gib": 3 << 29,
		"1KB": 1000, "5mb": 5e6, "1GB": 1e9, "9223372036854775807": math.MaxInt64,
	} {
		cases = append(cases, coerceCase{text, d, text, good, ""})
	}
	for _, raw := range []any{"-1", -1, "-1KiB", "64M", "0.3KiB", "1.5", "MiB", "NaNKiB", "InfMiB", "1e30KB", "", nil, "9223372036854775808", 1.5} {
		cases = append(cases, coerceCase{"bad " + Format(raw), d, raw, nil, "want bytes such as 1048576 or a size such as 1MiB"})
	}
	runCoerce(t, cases)
}

func TestCoerceText(t *testing.T) {
	t.Parallel()
	d := Def{Default: ""}
	runCoerce(t, []coerceCase{
		{"as it is", d, " a=b, c ", " a=b, c ", ""},
		{"None", d, "None", "", ""},
		{"nil", d, nil, "", ""},
		{"a path is not None", d, "./None", "./None", ""},
		{"int", d, 42, "42", ""},
		{"float", d, 1.10, nil, "want text"},
		{"bool", d, true, nil, "want text"},
		{"list", d, []int{1}, nil, "want text"},
		{"time", d, time.Unix(0, 0), nil, "time.Time cannot be a setting"},
	})
}

func TestCoerceChoices(t *testing.T) {
	t.Parallel()
	level := levelDef("X", "INFO", "x")
	queue := queueDef("X", "lifo", diskQueues(), "x", "")
	runCoerce(t, []coerceCase{
		{"level", level, "ERROR", "ERROR", ""},
		{"level case", level, "error", "ERROR", ""},
		{"Python's number", level, 10, "DEBUG", ""},
		{"Python's number as text", level, "50", "CRITICAL", ""},
		{"other name", level, "warn", "WARNING", ""},
		{"no level", level, "LOUD", nil, "want DEBUG, INFO, WARNING, ERROR or CRITICAL"},
		{"number between", level, 15, nil, "want DEBUG"},
		{"queue", queue, "FIFO", "fifo", ""},
		{"class path", queue, "scrapy.squeues.PickleFifoDiskQueue", "fifo", ""},
		{"None", queue, "None", "", ""},
		{"empty", queue, "", "", ""},
		{"memory queue on disk", queue, "scrapy.squeues.LifoMemoryQueue", nil, "want a name that this binary has: lifo, fifo or None"},
		{"None is no choice", queueDef("X", "lifo", nil, "x"), nil, nil, "want a name that this binary has: lifo or fifo"},
	})
}
