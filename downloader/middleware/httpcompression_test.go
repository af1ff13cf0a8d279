package middleware

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/conformance"
)

// encode encodes data with a coding, "raw" being the bare form of deflate.
func encode(coding string, data []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	}
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func zip(data []byte) []byte { return encode("gzip", data) }

// decoded sends a body with codings through the middleware.
func decoded(t testing.TB, env *crawl.Env, r *crawl.Request, body []byte, codings ...string) (*crawl.Response, error) {
	t.Helper()
	h := http.Header{"Content-Encoding": codings}
	return wrap(t, "httpcompression", env, respond(&crawl.Response{Status: 200, Header: h, Body: body})).Fetch(t.Context(), r)
}

// CMP-02 to CMP-12.
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
		{"CMP-02 deflate", encode("deflate", page), []string{"deflate"}, page, nil, nil},
		{"CMP-02 bare deflate", encode("raw", page), []string{"deflate"}, page, nil, nil},
		{"CMP-02 br", encode("br", page), []string{"br"}, page, nil, nil},
		{"CMP-02 zstd", encode("zstd", page), []string{"zstd"}, page, nil, nil},
		{"CMP-02 zstd frames", slices.Concat(encode("zstd", page[:9]), encode("zstd", page[9:])), []string{"zstd"}, page, nil, nil},
		{"CMP-04", once, []string{"uuencode", "gzip"}, page, []string{"uuencode"}, nil},
		{"CMP-05 one line", twice, []string{"gzip, gzip"}, page, nil, nil},
		{"CMP-05 lines", zip(twice), []string{"gzip", "x-gzip, gzip"}, page, nil, nil},
		{"CMP-05 mixed", encode("br", encode("deflate", zip(page))), []string{"gzip, deflate", "br"}, page, nil, nil},
		{"CMP-06", encode("deflate", once), []string{"gzip, foo, deflate"}, once, []string{"gzip", "foo"}, nil},
		{"CMP-08", page, []string{"identity"}, page, nil, nil},
		{"CMP-10", twice, []string{"gzip"}, once, nil, nil},
		{"CMP-12 junk", slices.Concat(once, []byte("junk junk")), []string{"gzip"}, page, nil, nil},
		{"CMP-12 deflate", slices.Concat(encode("deflate", page), once), []string{"deflate"}, page, nil, nil},
		{"CMP-12 bare deflate", slices.Concat(encode("raw", page), once), []string{"deflate"}, page, nil, nil},
		{"CMP-12 br", slices.Concat(encode("br", page), once), []string{"br"}, page, nil, nil},
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
			env, _ = newEnv(t, map[string]any{"HTTP_STRICT": true})
			if _, err = decoded(t, env, &crawl.Request{}, tt.body, tt.codings...); (err != nil) != (tt.flags != nil) {
				t.Errorf("HTTP_STRICT: error = %v, flags otherwise %q", err, tt.flags)
			}
		})
	}
}

func TestCompressionTruncated(t *testing.T) {
	page := make([]byte, 200_000)
	rand.NewChaCha8([32]byte{}).Read(page) //nolint:errcheck // never fails.
	env, _ := newEnv(t, nil)
	for _, coding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		whole, name := encode(coding, page), strings.Replace(coding, "raw", "deflate", 1)
		resp, err := decoded(t, env, &crawl.Request{}, whole[:len(whole)*3/4], name)
		if err != nil || len(resp.Body) == 0 || !bytes.HasPrefix(page, resp.Body) || !slices.Equal(resp.Flags, []string{FlagTruncated}) {
			t.Errorf("%s: response = %v, %v", coding, resp, err)
		}
		// A decoder that was left in the middle is as good as new.
		if resp, err = decoded(t, env, &crawl.Request{}, whole, name); err != nil || !bytes.Equal(resp.Body, page) || len(resp.Flags) != 0 {
			t.Errorf("%s, whole: response = %v, %v", coding, resp, err)
		}
	}
	// Nothing at all could be decoded: worth another try.
	for _, c := range [][2]string{
		{"gzip", "\x1f\x8b"},
		{"gzip", "\x1f\x8b\x08\x00"},
		{"gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff"},
		{"deflate", "\x78\x9c"},
		{"deflate", "<html>"},
		{"deflate", "\x78"},
		{"br", "<html>"},
		{"zstd", "<html>"},
		{"zstd", "\x28\xb5\x2f"},
	} {
		if resp, err := decoded(t, env, &crawl.Request{}, []byte(c[1]), c[0]); crawl.KindOf(err) != crawl.FailProtocol {
			t.Errorf("%q: response %v, error %v, want one to try again", c, resp, err)
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

// CMP-01, CMP-15.
func TestCompressionAsked(t *testing.T) {
	for on, want := range map[bool]string{true: "gzip, deflate, br, zstd", false: ""} {
		env, _ := newEnv(t, map[string]any{"COMPRESSION_ENABLED": on})
		if got := sentHeader(t, env, &crawl.Request{}, "httpcompression").Get("Accept-Encoding"); got != want {
			t.Errorf("COMPRESSION_ENABLED=%v: Accept-Encoding = %q, want %q", on, got, want)
		}
	}
}

// CMP-13, CMP-14, scrapy#7134 (CVE-2025-6176).
func TestCompressionBomb(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		bomb, name := encode(coding, make([]byte, 11_511_612)), strings.Replace(coding, "raw", "deflate", 1)
		for i, tt := range []struct {
			setting, own int64
			ok           bool
		}{{1_000_000, 0, false}, {0, 0, true}, {0, 1_000_000, false}, {1_000_000, -1, true}, {11_511_612, 0, true}, {11_511_611, 0, false}} {
			if i > 1 && coding != "gzip" {
				break // the limits are the same for all
			}
			env, log := newEnv(t, map[string]any{"DOWNLOAD_MAXSIZE": tt.setting, "DOWNLOAD_WARNSIZE": 10_000_000})
			r := &crawl.Request{URL: "http://scrapytest.org/", Options: crawl.Options{MaxSize: tt.own}}
			resp, err := decoded(t, env, r, bomb, name)
			if tt.ok {
				if err != nil || len(resp.Body) != 11_511_612 {
					t.Errorf("%s %+v: %v", coding, tt, err)
				}
				wantLog(t, log, "<200 http://scrapytest.org/> body size after decompression (11511612 B) is larger than the download warning size (10000000 B).", 1)
				continue
			}
			if crawl.KindOf(err) != crawl.FailTooLarge {
				t.Errorf("%s %+v: error = %v, want too large", coding, tt, err)
			}
			wantLog(t, log, "B decompressed so far) exceeded DOWNLOAD_MAXSIZE (", 1)
		}
	}
}

// Many layers of compression are as many bombs; each is limited.
func TestCompressionLayers(t *testing.T) {
	body := make([]byte, 50<<20)
	for range 3 {
		body = zip(body)
	}
	env, _ := newEnv(t, nil)
	if _, err := decoded(t, env, &crawl.Request{Options: crawl.Options{MaxSize: 10 << 20}}, body, "gzip, gzip, gzip"); crawl.KindOf(err) != crawl.FailTooLarge {
		t.Errorf("error = %v, want too large", err)
	}
}

func TestConformanceCompression(t *testing.T) {
	conformance.Run(t, "compression/bodies", func(t *conformance.Row, c struct {
		File      string
		Coding    string `json:"content_encoding"`
		Bytes     int    `json:"expected_bytes"`
		Sum       string `json:"expected_sha256"`
		Bomb      bool
		Truncated bool
		Error     bool
		Prefix    string `json:"expected_prefix"`
	},
	) {
		body := t.File("compression/" + c.File)
		env, _ := newEnv(t, nil)
		if c.Bomb {
			if _, err := decoded(t, env, &crawl.Request{Options: crawl.Options{MaxSize: 1 << 20}}, body, c.Coding); crawl.KindOf(err) != crawl.FailTooLarge {
				t.Errorf("error = %v, want too large", err)
			}
		}
		resp, err := decoded(t, env, &crawl.Request{}, body, c.Coding)
		if c.Error {
			if err == nil && !slices.Contains(resp.Flags, FlagTruncated) {
				t.Errorf("response = %v, want an error or what is whole of it", resp)
			}
			return
		}
		if err != nil || len(resp.Body) == 0 && c.Sum == "" && c.Bytes > 0 {
			t.Fatalf("response = %v, %v", resp, err)
		}
		sum := sha256.Sum256(resp.Body)
		if c.Bytes > 0 && len(resp.Body) != c.Bytes || c.Sum != "" && hex.EncodeToString(sum[:]) != c.Sum {
			t.Errorf("%d bytes, SHA-256 %x; want %d, %s", len(resp.Body), sum, c.Bytes, c.Sum)
		}
		if !bytes.HasPrefix(resp.Body, []byte(c.Prefix)) {
			t.Errorf("body = %.20q, want %q", resp.Body, c.Prefix)
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
	for _, coding := range []string{"deflate", "raw", "br", "zstd"} {
		f.Add(encode(coding, []byte("page page page page")), strings.Replace(coding, "raw", "deflate", 1))
	}
	f.Fuzz(func(t *testing.T, body []byte, coding string) {
		env, _ := newEnv(t, map[string]any{"DOWNLOAD_MAXSIZE": 1 << 20})
		resp, err := decoded(t, env, &crawl.Request{}, bytes.Clone(body), coding)
		if (resp == nil) == (err == nil) {
			t.Fatalf("response %v and error %v", resp, err)
		}
		if err != nil {
			return
		}
		if len(resp.Body) > max(1<<20, len(body)) {
			t.Errorf("%d bytes of %d are beyond the limit", len(resp.Body), len(body))
		}
		z, zerr := gzip.NewReader(bytes.NewReader(body))
		if coding != "gzip" || zerr != nil {
			return
		}
		z.Multistream(false)
		if want, _ := io.ReadAll(io.LimitReader(z, 1<<20)); !bytes.Equal(resp.Body, want) {
			t.Errorf("body = %q, want %q", resp.Body, want)
		}
	})
}

// BenchmarkCompression is a page of 10 KiB in each coding.
func BenchmarkCompression(b *testing.B) {
	page := bytes.Repeat([]byte("<p>some words of a page</p>\n"), 380)
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		b.Run(coding, func(b *testing.B) {
			env, _ := newEnv(b, nil)
			f := wrap(b, "httpcompression", env, respond(&crawl.Response{Status: 200, Header: header("Content-Encoding", coding), Body: encode(coding, page)}))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Fetch(b.Context(), &crawl.Request{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The codings of a body are counted before any of them is undone.
func TestCompressionMany(t *testing.T) {
	env, _ := newEnv(t, nil)
	page := []byte("page")
	body := page
	for n := 1; n <= maxCodings+1; n++ {
		body = zip(body)
		resp, err := decoded(t, env, &crawl.Request{}, body, strings.Repeat("gzip,", n))
		if ok := err == nil && bytes.Equal(resp.Body, page); ok != (n <= maxCodings) {
			t.Errorf("%d codings: %v", n, err)
		}
		if n > maxCodings && crawl.KindOf(err) != crawl.FailProtocol {
			t.Errorf("%d codings: %v, want the kind protocol", n, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(crawl.ErrStopped)
	f := wrap(t, "httpcompression", env, crawl.FetcherFunc(func(_ context.Context, r *crawl.Request) (*crawl.Response, error) {
		return &crawl.Response{Request: r, Status: 200, Header: header("Content-Encoding", "gzip"), Body: zip(make([]byte, 1<<20))}, nil
	}))
	if _, err := f.Fetch(ctx, &crawl.Request{}); !errors.Is(err, crawl.ErrStopped) {
		t.Errorf("decoding after the stop: %v", err)
	}
}
