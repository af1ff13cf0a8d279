package scheduler

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/conformance"
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
	cases := conformance.Cases[fingerprintVector](t, "url/fingerprint.jsonl")
	total := len(cases)
	var failed []string
	for _, c := range cases {
		if !c.V.passes() {
			failed = append(failed, c.ID)
		}
	}
	t.Logf("url/fingerprint %d %d %s", total-len(failed), total, strings.Join(failed, " "))
	if len(failed) > 0 {
		t.Errorf("%d of %d vectors fail", len(failed), total)
	}
}
