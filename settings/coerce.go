package settings

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	wantBool     = "True or False (1, 0, yes and no work too)"
	wantInt      = "a whole number such as 16"
	wantFloat    = "a number such as 0.5"
	wantDuration = "seconds such as 0.25 or a duration such as 250ms"
	wantSize     = "bytes such as 1048576 or a size such as 1MiB"
	wantText     = "text (in a config file: in quotes)"
)

// coerce turns a canonical value into the type of the default. It is strict
// where a lenient reading would silently mean something else.
func (d *Def) coerce(raw any) (any, error) {
	if text, ok := raw.(string); ok && text == "None" {
		raw = nil
	}
	switch d.Default.(type) {
	case string:
		return asText(raw)
	case bool:
		return asBool(raw)
	case []string:
		if d.Titles {
			return asTitles(raw)
		}
		return asTexts(raw)
	case []int:
		return asInts(raw)
	case map[string]int:
		return d.asOrders(raw)
	case map[string]any:
		return asMap(raw)
	default:
		return d.coerceNumber(raw)
	}
}

func (d *Def) coerceNumber(raw any) (any, error) {
	if text, ok := raw.(string); ok {
		raw = strings.TrimSpace(text)
	}
	if d.ZeroIsOff && (raw == nil || raw == "") {
		raw = 0
	}
	switch d.Default.(type) {
	case int:
		return asInt(raw)
	case int64:
		return asSize(raw)
	case float64:
		return asFloat(raw)
	default:
		return asDuration(raw)
	}
}

func asText(raw any) (any, error) {
	switch v := raw.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	}
	return nil, want(wantText) // 1.10 would lose its zero
}

func asBool(raw any) (any, error) {
	text := ""
	switch v := raw.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case int:
		text = strconv.Itoa(v)
	case string:
		text = strings.ToLower(strings.TrimSpace(v))
	}
	switch text {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return nil, want(wantBool)
}

func asInt(raw any) (any, error) {
	switch v := raw.(type) {
	case int:
		return v, nil
	case float64:
		if n, ok := whole(v); ok {
			return int(n), nil
		}
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n, nil
		}
	}
	return nil, want(wantInt)
}

func asFloat(raw any) (any, error) {
	f := math.NaN()
	switch v := raw.(type) {
	case int:
		f = float64(v)
	case float64:
		f = v
	case string:
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			f = n
		}
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, want(wantFloat)
	}
	return f, nil
}

// Duration reads a time as settings do: a number of seconds, also as text, a
// duration such as 250ms, or a [time.Duration]. An error says what would be right.
func Duration(raw any) (time.Duration, error) {
	d, err := asDuration(raw)
	if err != nil {
		return 0, err
	}
	return d.(time.Duration), nil
}

// asDuration reads a bare number as seconds, as Scrapy writes them, and also
// what time.ParseDuration reads.
func asDuration(raw any) (any, error) {
	d, ok := raw.(time.Duration)
	if text, isText := raw.(string); isText {
		var err error
		d, err = time.ParseDuration(text)
		ok = err == nil
	}
	if !ok {
		f, err := asFloat(raw)
		if err != nil {
			return nil, want(wantDuration)
		}
		d, ok = seconds(f.(float64))
	}
	if !ok || d < 0 {
		return nil, want(wantDuration)
	}
	return d, nil
}

// seconds refuses what a duration cannot hold: over 292 years, and a pause so
// short that it would become none.
func seconds(f float64) (time.Duration, bool) {
	ns := f * float64(time.Second)
	if ns < 0 || ns >= math.MaxInt64 {
		return 0, false
	}
	d := time.Duration(math.Round(ns))
	return d, d > 0 || f == 0
}

// units are the suffixes of a size, the longer ones first.
func units() []unit {
	return []unit{
		{"kib", 1 << 10},
		{"mib", 1 << 20},
		{"gib", 1 << 30},
		{"kb", 1e3},
		{"mb", 1e6},
		{"gb", 1e9},
	}
}

type unit struct {
	suffix string
	bytes  float64
}

// asSize reads bytes, alone or with a unit: KiB, MiB and GiB are powers of
// 1024, KB, MB and GB of 1000.
func asSize(raw any) (any, error) {
	n, ok := int64(-1), false
	switch v := raw.(type) {
	case int:
		n, ok = int64(v), true
	case float64:
		n, ok = whole(v)
	case string:
		n, ok = parseSize(strings.ToLower(v))
	}
	if !ok || n < 0 {
		return nil, want(wantSize)
	}
	return n, nil
}

func parseSize(text string) (int64, bool) {
	for _, u := range units() {
		if digits, ok := strings.CutSuffix(text, u.suffix); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
			if err != nil {
				return 0, false
			}
			return whole(f * u.bytes)
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// choose replaces an alias by what it stands for and holds the result against
// the choices.
func (d *Def) choose(text string) (any, error) {
	if name, ok := lookupFold(d.Aliases, text); ok {
		text = name
	}
	if len(d.Choices) == 0 {
		return text, nil
	}
	i := slices.IndexFunc(d.Choices, func(c string) bool { return strings.EqualFold(c, text) })
	if i < 0 {
		good := oneOf(d.Choices)
		if d.Open {
			good = "a name that this binary has: " + good
		}
		if why, ok := d.Refused[text]; ok {
			return nil, want(good + ", since " + why)
		}
		return nil, wanted{text: good, nearest: Nearest(text, slices.Values(d.Choices))}
	}
	return d.Choices[i], nil
}

func lookupFold(aliases map[string]string, text string) (string, bool) {
	if name, ok := aliases[text]; ok {
		return name, true
	}
	name, ok := aliases[strings.ToUpper(text)] // level names: warn is WARN
	return name, ok
}

func oneOf(choices []string) string {
	shown := slices.Clone(choices)
	for i, c := range shown {
		if c == "" {
			shown[i] = "None"
		}
	}
	last := len(shown) - 1
	if last == 0 {
		return shown[0]
	}
	return strings.Join(shown[:last], ", ") + " or " + shown[last]
}
