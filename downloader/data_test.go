package downloader

import (
	"bytes"
	"encoding/json"
	"mime"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

func TestData(t *testing.T) {
	t.Parallel()
	for u, want := range map[string][2]string{
		"data:,A%20brief%20note":           {"text/plain;charset=US-ASCII", "A brief note"},
		"data:text/html,<p>1,2</p>#top":    {"text/html", "<p>1,2</p>"},
		"data:;charset=utf-8,%E2%82%AC":    {"text/plain;charset=utf-8", "€"},
		"data:text/plain;x=1;base64,aGk":   {"text/plain;x=1", "hi"},
		"data:text/plain; BASE64 ,aG k%3D": {"text/plain", "hi"},
		"data:image/png;base64,":           {"image/png", ""},
		"data:,100%":                       {"text/plain;charset=US-ASCII", "100%"},
		"data:,%zz%4":                      {"text/plain;charset=US-ASCII", "%zz%4"},
		"data:base64,aGk=":                 {"base64", "aGk="},
	} {
		resp, err := Router{"data": Data{}}.Fetch(t.Context(), &crawl.Request{URL: u})
		if err != nil {
			t.Errorf("%s: %v", u, err)
			continue
		}
		if got := resp.Header.Get("Content-Type"); got != want[0] || string(resp.Body) != want[1] || resp.Status != 200 || strings.Contains(resp.URL, "#") {
			t.Errorf("%s: %q, %q from %v, want %q", u, got, resp.Body, resp, want)
		}
	}
	for _, u := range []string{"data:text/plain", "data:;base64,a", "data:;base64,a===", "data:;base64,?"} {
		if _, err := (Data{}).Fetch(t.Context(), &crawl.Request{URL: u}); crawl.KindOf(err) != crawl.FailUnsupported {
			t.Errorf("%s: error = %v, want unsupported", u, err)
		}
	}
}

// A text of a vector is a string, or bytes in base64.
type vectorText []byte

func (v *vectorText) UnmarshalJSON(b []byte) error {
	var coded struct{ B64 []byte }
	var s string
	if json.Unmarshal(b, &s) == nil {
		*v = []byte(s)
		return nil
	}
	err := json.Unmarshal(b, &coded)
	*v = coded.B64
	return err
}

type dataVector struct {
	ID, Input string
	Raw       []byte `json:"input_b64"`
	Error     bool
	Expected  struct {
		Type   string            `json:"media_type"`
		Params map[string]string `json:"media_type_parameters"`
		Data   *vectorText
	}
}

func (v *dataVector) check(t testing.TB) {
	t.Helper()
	mediaType, body, err := parseData(v.Input + string(v.Raw))
	if (err != nil) != v.Error {
		t.Fatalf("error = %v, want %v", err, v.Error)
	}
	if err != nil {
		return
	}
	kind, params, err := mime.ParseMediaType(mediaType)
	if err != nil || v.Expected.Type != "" && kind != v.Expected.Type {
		t.Errorf("media type = %q, %v, want %s", mediaType, err, v.Expected.Type)
	}
	for name, want := range v.Expected.Params {
		if params[name] != want {
			t.Errorf("%s = %q, want %q", name, params[name], want)
		}
	}
	if v.Expected.Data != nil && !bytes.Equal(body, *v.Expected.Data) {
		t.Errorf("data = %q, want %q", body, *v.Expected.Data)
	}
}

func TestConformanceData(t *testing.T) {
	conformance.Run(t, "url/data_uri", func(r *conformance.Row, v dataVector) { v.check(r) })
}

func FuzzData(f *testing.F) {
	f.Add("data:text/plain;charset=utf-8;base64,aGk=")
	f.Add("DATA:;;base64,%")
	f.Fuzz(func(t *testing.T, u string) {
		mediaType, body, err := parseData(u)
		if err == nil && (mediaType == "" || len(body) > len(u)) {
			t.Errorf("%q: media type %q, %d bytes", u, mediaType, len(body))
		}
	})
}
