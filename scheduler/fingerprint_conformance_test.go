package scheduler

import (
	"net/http"
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

func (v fingerprintVector) check(r *conformance.Row) {
	if v.Kind == "known" {
		r.Equal(v.Request.fingerprint(v.Options).String(), v.Hex)
		return
	}
	r.Equal(v.A.fingerprint(v.AOptions) == v.B.fingerprint(v.BOptions), v.Equal)
}

func TestFingerprintConformance(t *testing.T) {
	conformance.Run(t, "url/fingerprint", func(r *conformance.Row, v fingerprintVector) { v.check(r) })
}
