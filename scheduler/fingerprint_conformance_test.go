package scheduler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fingerprintVector is a line of url/fingerprint.jsonl: a known fingerprint, or
// two requests that have the same or not.
type fingerprintVector struct {
	ID, Kind string
	Request  vectorRequest
	Options  vectorOptions
	Hex      string `json:"fingerprint_hex"`
	A, B     vectorRequest
	AOptions vectorOptions `json:"a_options"`
	BOptions vectorOptions `json:"b_options"`
	Equal    bool
}

type vectorRequest struct {
	URL, Method, Body string
	Headers           map[string]string
	Meta              struct {
		Verbatim bool `json:"verbatim_url"`
	}
}

type vectorOptions struct {
	Headers   []string `json:"include_headers"`
	Fragments bool     `json:"keep_fragments"`
}

func (r vectorRequest) fingerprint(o vectorOptions) Fingerprint {
	header := http.Header{}
	for name, value := range r.Headers {
		header.Set(name, value)
	}
	opts := []FingerprintOption{IncludeHeaders(header, o.Headers...)}
	if o.Fragments {
		opts = append(opts, KeepFragments())
	}
	if r.Meta.Verbatim {
		opts = append(opts, VerbatimURL())
	}
	return FingerprintOf(r.Method, r.URL, []byte(r.Body), opts...)
}

func (v fingerprintVector) passes() bool {
	if v.Kind == "known" {
		return v.Request.fingerprint(v.Options).String() == v.Hex
	}
	return (v.A.fingerprint(v.AOptions) == v.B.fingerprint(v.BOptions)) == v.Equal
}

// TestFingerprintConformance logs "family passed total" with the IDs that failed.
func TestFingerprintConformance(t *testing.T) {
	dir := os.Getenv("CONFORMANCE_DIR")
	if dir == "" {
		t.Skip("CONFORMANCE_DIR is not set: it names the folder of public test vectors")
	}
	data, err := os.ReadFile(filepath.Join(dir, "url", "fingerprint.jsonl"))
	if os.IsNotExist(err) {
		t.Skipf("no url/fingerprint.jsonl in %s", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	var failed []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var v fingerprintVector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		if total++; !v.passes() {
			failed = append(failed, v.ID)
		}
	}
	t.Logf("url/fingerprint %d %d %s", total-len(failed), total, strings.Join(failed, " "))
	if len(failed) > 0 {
		t.Errorf("%d of %d vectors fail", len(failed), total)
	}
}
