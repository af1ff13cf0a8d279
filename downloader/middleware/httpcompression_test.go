package middleware

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

func zip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// decoded sends a body with codings through the middleware.
func decoded(t testing.TB, env *crawl.Env, r *crawl.Request, body []byte, codings ...string) (*crawl.Response, error) {
	t.Helper()
	h := http.Header{"Content-Encoding": codings}
	return wrap(t, "httpcompression", env, respond(&crawl.Response{Status: 200, Header: h, Body: body})).Fetch(t.Context(), r)
}

// CMP-01 to CMP-12, as far as they are about gzip.
func TestCompression(t *testing.T) {
	page := bytes.Repeat([]byte("<p>page</p>"), 10_000)
	once, twice := zip(page), zip(zip(page))
	for _, tt := range []struct {
		id      string
		body    []byte
		codings []string
		want    []byte
		left    []string
		flags   []string
	}{
		{"CMP-02 gzip", once, []string{"gzip"}, page, nil, nil},
		{"CMP-02 x-gzip", once, []string{"X-GZip"}, page, nil, nil},
		{"CMP-04", once, []string{"uuencode", "gzip"}, page, []string{"uuencode"}, nil},
		{"CMP-05 one line", twice, []string{"gzip, gzip"}, page, nil, nil},
		{"CMP-05 lines", zip(twice), []string{"gzip", "x-gzip, gzip"}, page, nil, nil},
		{"CMP-06", zip(once), []string{"gzip, foo, gzip"}, once, []string{"gzip", "foo"}, nil},
		{"CMP-08", page, []string{"identity"}, page, nil, nil},
		{"CMP-10", twice, []string{"gzip"}, once, nil, nil},
		{"CMP-12 junk", slices.Concat(once, []byte("junk junk")), []string{"gzip"}, page, nil, nil},
		{"CMP-12 second stream", slices.Concat(once, once), []string{"gzip"}, page, nil, nil},
		{"plain", page, []string{"gzip"}, page, nil, []string{FlagNotGzip}},
		{"plain twice", page, []string{"gzip, gzip"}, page, nil, []string{FlagNotGzip}},
		{"no checksum", once[:len(once)-8], []string{"gzip"}, page, nil, []string{FlagTruncated}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			env, _ := newEnv(t, nil)
			resp, err := decoded(t, env, &crawl.Request{}, tt.body, tt.codings...)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(resp.Body, tt.want) || !reflect.DeepEqual(resp.Header["Content-Encoding"], tt.left) || !slices.Equal(resp.Flags, tt.flags) {
				t.Errorf("%d bytes, codings %q, flags %q; want %d, %q, %q", len(resp.Body), resp.Header["Content-Encoding"], resp.Flags, len(tt.want), tt.left, tt.flags)
			}
			wantStats(t, env, map[string]int64{"httpcompression/response_count": 1, "httpcompression/response_bytes": int64(len(tt.want))})
		})
	}
}

func TestCompressionTruncated(t *testing.T) {
	page := bytes.Repeat([]byte("0123456789"), 10_000)
	cut := zip(page)
	cut = cut[:len(cut)/2]
	env, _ := newEnv(t, nil)
	resp, err := decoded(t, env, &crawl.Request{}, cut, "gzip")
	if err != nil || len(resp.Body) == 0 || !bytes.HasPrefix(page, resp.Body) || !slices.Equal(resp.Flags, []string{FlagTruncated}) {
		t.Errorf("response = %v, %v", resp, err)
	}
	// Nothing at all could be decoded: worth another try.
	for _, body := range []string{"\x1f\x8b", "\x1f\x8b\x08\x00", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff"} {
		if _, err := decoded(t, env, &crawl.Request{}, []byte(body), "gzip"); !mayPass(err) {
			t.Errorf("%q: error = %v, want one to try again", body, err)
		}
	}
}

// CMP-03, CMP-06, CMP-11.
func TestCompressionUntouched(t *testing.T) {
	env, log := newEnv(t, nil)
	for name, f := range map[string]func() (*crawl.Response, error){
		"CMP-03":        func() (*crawl.Response, error) { return decoded(t, env, &crawl.Request{}, zip([]byte("x"))) },
		"CMP-11":        func() (*crawl.Response, error) { return decoded(t, env, &crawl.Request{Method: "HEAD"}, nil, "gzip") },
		"an empty body": func() (*crawl.Response, error) { return decoded(t, env, &crawl.Request{}, nil, "gzip") },
	} {
		if resp, err := f(); err != nil || len(resp.Flags) != 0 {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
	}
	wantStats(t, env, map[string]int64{"httpcompression/response_count": 0})
	_, _ = decoded(t, env, &crawl.Request{URL: "http://a.test/"}, []byte("x"), "gzip,foo")
	wantLog(t, log, "cannot decode the response for http://a.test/ from unsupported encoding(s) 'gzip,foo'.", 1)
}

// CMP-13, CMP-14.
func TestCompressionBomb(t *testing.T) {
	bomb := zip(make([]byte, 11_511_612))
	for _, tt := range []struct {
		setting, own int64
		ok           bool
	}{{1_000_000, 0, false}, {0, 1_000_000, false}, {0, 0, true}, {1_000_000, -1, true}, {11_511_612, 0, true}, {11_511_611, 0, false}} {
		env, log := newEnv(t, map[string]any{"DOWNLOAD_MAXSIZE": tt.setting, "DOWNLOAD_WARNSIZE": 10_000_000})
		r := &crawl.Request{URL: "http://scrapytest.org/", Options: crawl.Options{MaxSize: tt.own}}
		resp, err := decoded(t, env, r, bomb, "gzip")
		if tt.ok {
			if err != nil || len(resp.Body) != 11_511_612 {
				t.Errorf("%+v: %v", tt, err)
			}
			wantLog(t, log, "<200 http://scrapytest.org/> body size after decompression (11511612 B) is larger than the download warning size (10000000 B).", 1)
			continue
		}
		if crawl.KindOf(err) != crawl.FailTooLarge {
			t.Errorf("%+v: error = %v, want too large", tt, err)
		}
		wantLog(t, log, "B decompressed so far) exceeded DOWNLOAD_MAXSIZE (", 1)
	}
}

func TestConformanceCompression(t *testing.T) {
	vectors(t, "compression/bodies.jsonl", func(t *testing.T, c struct {
		File      string
		Coding    string `json:"content_encoding"`
		Bytes     int    `json:"expected_bytes"`
		Sum       string `json:"expected_sha256"`
		Bomb, Cut bool
		Truncated bool
	},
	) {
		for coding := range strings.SplitSeq(c.Coding, ",") {
			if coding = strings.TrimSpace(coding); coding != "gzip" && coding != "x-gzip" {
				t.Skipf("this version does not decode %s", coding)
			}
		}
		body, err := os.ReadFile(filepath.Join(os.Getenv("CONFORMANCE_DIR"), "compression", c.File))
		if err != nil {
			t.Fatal(err)
		}
		env, _ := newEnv(t, nil)
		if c.Bomb {
			if _, err := decoded(t, env, &crawl.Request{Options: crawl.Options{MaxSize: 1 << 20}}, body, c.Coding); crawl.KindOf(err) != crawl.FailTooLarge {
				t.Errorf("error = %v, want too large", err)
			}
		}
		resp, err := decoded(t, env, &crawl.Request{}, body, c.Coding)
		if err != nil || len(resp.Body) == 0 {
			t.Fatalf("response = %v, %v", resp, err)
		}
		sum := sha256.Sum256(resp.Body)
		if c.Bytes > 0 && len(resp.Body) != c.Bytes || c.Sum != "" && hex.EncodeToString(sum[:]) != c.Sum {
			t.Errorf("%d bytes, SHA-256 %x; want %d, %s", len(resp.Body), sum, c.Bytes, c.Sum)
		}
		if got := slices.Contains(resp.Flags, FlagTruncated); got != c.Truncated {
			t.Errorf("truncated = %v, want %v", got, c.Truncated)
		}
	})
}

func FuzzCompression(f *testing.F) {
	f.Add(zip([]byte("page")), "gzip")
	f.Add([]byte("plain"), "gzip, x-gzip")
	f.Add(zip([]byte("page"))[:12], "GZIP,identity,")
	f.Fuzz(func(t *testing.T, body []byte, coding string) {
		env, _ := newEnv(t, map[string]any{"DOWNLOAD_MAXSIZE": 1 << 20})
		resp, err := decoded(t, env, &crawl.Request{}, bytes.Clone(body), coding)
		if (resp == nil) == (err == nil) {
			t.Fatalf("response %v and error %v", resp, err)
		}
		z, zerr := gzip.NewReader(bytes.NewReader(body))
		if coding != "gzip" || zerr != nil || err != nil {
			return
		}
		z.Multistream(false)
		if want, _ := io.ReadAll(io.LimitReader(z, 1<<20)); !bytes.Equal(resp.Body, want) {
			t.Errorf("body = %q, want %q", resp.Body, want)
		}
	})
}
