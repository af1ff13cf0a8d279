package feeds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/feeds"
)

// FE-21 (percent escapes of a file URI), CLI rules of -o and -O.
func TestParseTarget(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, uri, path, format string }{
		{"out.jsonl", "out.jsonl", "out.jsonl", "jsonl"},
		{"out.jsonlines", "out.jsonlines", "out.jsonlines", "jsonlines"},
		{"dir/sub/./out.jl", "dir/sub/./out.jl", "dir/sub/out.jl", "jl"},
		{"OUT.JSONL", "OUT.JSONL", "OUT.JSONL", "jsonl"},
		{"out:jsonlines", "out", "out", "jsonlines"},
		{"out.txt:JL", "out.txt", "out.txt", "jl"},
		{"a:b:jsonl", "a:b", "a:b", "jsonl"},
		{"a:b.jsonl", "a:b.jsonl", "a:b.jsonl", "jsonl"},
		{`C:\data\out.jsonl`, `C:\data\out.jsonl`, `C:\data\out.jsonl`, "jsonl"},
		{`C:\data\out:jl`, `C:\data\out`, `C:\data\out`, "jl"},
		{"100%/out 1 ü.jsonl", "100%/out 1 ü.jsonl", "100%/out 1 ü.jsonl", "jsonl"},
		{"-", "stdout:", "", "jsonlines"},
		{"-:jl", "stdout:", "", "jl"},
		{"stdout:", "stdout:", "", "jsonlines"},
		{"stdout:jsonl", "stdout:", "", "jsonl"},
		{"stdout::jsonl", "stdout:", "", "jsonl"},
		{"./-:jsonl", "./-", "-", "jsonl"},
		{"file:///data/path%20with%20spaces/x%23.jsonl", "file:///data/path%20with%20spaces/x%23.jsonl", "/data/path with spaces/x#.jsonl", "jsonl"},
		{"FILE://localhost/data/out:jl", "FILE://localhost/data/out", "/data/out", "jl"},
		{"out-%(time)s.csv", "out-%(time)s.csv", "out-%(time)s.csv", "csv"},
		{"file:///a%20b/%(name)s.json", "file:///a%20b/%(name)s.json", "/a b/%(name)s.json", "json"},
		{"file:/data/out.jl", "file:/data/out.jl", "/data/out.jl", "jl"},
		{"file:///C:/out.jl", "file:///C:/out.jl", "/C:/out.jl", "jl"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			t.Parallel()
			got, err := feeds.ParseTarget(tc.in)
			want := feeds.Target{URI: tc.uri, Path: tc.path, Format: tc.format}
			if err != nil || got != want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestParseTargetRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"", "it names no file"},
		{":jsonl", "it names no file"},
		{"items", "write items:jsonlines, or one of csv, jl, json, jsonl, jsonlines"},
		{"stdout", "write stdout:jsonlines"},
		{".jsonl", "write .jsonl:jsonlines"},
		{"out.", "does not tell the format"},
		{"out.xml", `there is no feed format "xml" (this binary has csv, jl, json, jsonl, jsonlines`},
		{"out.txt:pickle", `there is no feed format "pickle" (this binary has csv`},
		{"dir/:jsonl", "it names a directory"},
		{"file:///data/:jsonl", "it names a directory"},
		{"s3://bucket/out.jsonl", "there is no storage for s3: feeds go to local files and standard output"},
		{"ftp://host/out:jl", "there is no storage for ftp"},
		{"file://host/data/out.jl", "the file is on host host"},
		{"file:///data/out?x.jl", "%3F"},
		{"file:///%zz.jl", "invalid URL escape"},
		{"%(batch_id)05d.jl", "nothing is known to fill in for %(batch_id)05d: there are %(time)s and %(name)s"},
		{"file:///%(name)s/%(time)d.jl", "nothing is known to fill in for %(time)d"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			t.Parallel()
			_, err := feeds.ParseTarget(tc.in)
			var te *feeds.TargetError
			if !errors.As(err, &te) || te.Target != tc.in || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a TargetError with %q", err, tc.want)
			}
		})
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"a.jsonl", "-:jl", "stdout:", `C:\x.jl`, "file:///x%20y.jl", "a:b:jsonl", "%(x)s.jl", "x/:jl"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := feeds.ParseTarget(s)
		if err != nil {
			return
		}
		if _, err := feeds.Exporters.Lookup(target.Format); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if (target.Path == "") != (target.URI == "stdout:") {
			t.Errorf("%q: path %q with URI %q", s, target.Path, target.URI)
		}
	})
}
