package extensions

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestFormatStatsGolden(t *testing.T) {
	t.Parallel()
	got := FormatStats(map[string]any{
		"downloader/request_bytes": int64(1234), "downloader/request_count": 3, "finish_reason": "finished",
		"start_time":           time.Date(2026, 11, 30, 15, 2, 3, 123456789, time.UTC),
		"finish_time":          time.Date(2026, 11, 30, 16, 2, 0, 0, time.FixedZone("CET", 3600)),
		"elapsed_time_seconds": 0.125, "items_per_minute": nil, "responses_per_minute": 60.0,
		"resumed": true, "fresh": false, "delay": 1500 * time.Millisecond, "names": []string{"a", "it's"},
	}) + "\n"
	golden := filepath.Join("testdata", "stats.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The expectations are what Python's repr answers.
func TestPyValue(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   any
		want string
	}{
		{"", "''"},
		{"it's", `"it's"`},
		{`it's "x"`, `'it\'s "x"'`},
		{"a\\b\n\r\tc\x00\x7f", `'a\\b\n\r\tc\x00\x7f'`},
		{"Größe 日本 😀", "'Größe 日本 😀'"},
		{"\u00a0\u200b\U000e0001", `'\xa0\u200b\U000e0001'`},
		{"\xff", `'\xff'`},
		{1.0, "1.0"},
		{0.1, "0.1"},
		{0.0001, "0.0001"},
		{0.00001, "1e-05"},
		{1e15, "1000000000000000.0"},
		{1e16, "1e+16"},
		{1.5e300, "1.5e+300"},
		{math.Inf(1), "inf"},
		{math.Inf(-1), "-inf"},
		{math.NaN(), "nan"},
		{uint8(7), "7"},
		{[]any{1, "a", nil}, "[1, 'a', None]"},
		{struct{ A int }{1}, "'{1}'"},
		{time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC), "datetime.datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=datetime.timezone.utc)"},
		{time.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC), "datetime.datetime(2026, 1, 1, 0, 0, 5, tzinfo=datetime.timezone.utc)"},
		{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)"},
	} {
		if got := pyValue(tc.in); got != tc.want {
			t.Errorf("pyValue(%#v) = %s, want %s", tc.in, got, tc.want)
		}
	}
	if got := FormatStats(nil); got != "{}" {
		t.Errorf("no statistics: got %s, want {}", got)
	}
}
