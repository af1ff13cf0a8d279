package httpcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
)

// HC-01, HC-05, HC-07, HC-27: what is stored comes back equal, compressed or not, with the
// URL of the response, and with the flag of the cache.
func TestRoundTrip(t *testing.T) {
	for _, zip := range []bool{false, true} {
		o := newOrigin(t, map[string]any{"HTTPCACHE_GZIP": zip})
		first := &crawl.Response{
			URL: "http://cache.test/other", Status: 202, Proto: "HTTP/1.1", Body: []byte("<html><body>\xff\x00</body></html>"),
			Header: header("Date", "x", "Set-Cookie", "a=1", "Set-Cookie", "b=\xe9", "Content-Encoding", "gzip"),
			Flags:  []string{downloader.FlagPartial},
		}
		o.answer = func(r *crawl.Request) (*crawl.Response, error) {
			return &crawl.Response{Request: r, URL: first.URL, Status: first.Status, Proto: first.Proto, Body: first.Body, Header: first.Header, Flags: first.Flags}, nil
		}
		o.get(t)
		o.fails(errLost)
		got := o.get(t)
		if got.URL != first.URL || got.Status != 202 || got.Proto != "HTTP/1.1" || string(got.Body) != string(first.Body) || !reflect.DeepEqual(got.Header, first.Header) {
			t.Errorf("gzip %v: from the cache %v %v %q, want %v %v %q", zip, got, got.Header, got.Body, first, first.Header, first.Body)
		}
		if !got.IsHTML() || !reflect.DeepEqual(got.Flags, []string{"partial", "cached"}) || got.Latency != 0 {
			t.Errorf("gzip %v: HTML %v, flags %v, latency %v, want HTML, partial and cached, 0", zip, got.IsHTML(), got.Flags, got.Latency)
		}
		o.wantStats(t, map[string]int64{"miss": 1, "firsthand": 1, "store": 1, "hit": 1})
	}
}

// HC-27: entries are compressed, and both kinds are read whatever the setting says.
func TestGzip(t *testing.T) {
	dir, body := t.TempDir(), strings.Repeat("text ", 1000)
	sizes := map[bool]int64{}
	for _, zip := range []bool{true, false} {
		o := newOrigin(t, map[string]any{"HTTPCACHE_DIR": dir, "HTTPCACHE_GZIP": zip})
		o.says(200, body)
		o.get(t)
		info, err := os.Stat(o.files(t)[0])
		if err != nil {
			t.Fatal(err)
		}
		sizes[zip] = info.Size()
		other := newOrigin(t, map[string]any{"HTTPCACHE_DIR": dir, "HTTPCACHE_GZIP": !zip})
		wantBody(t, other.get(t), body, true)
		if err := os.Remove(o.files(t)[0]); err != nil {
			t.Fatal(err)
		}
	}
	if sizes[true] > int64(len(body))/2 || sizes[false] < int64(len(body)) {
		t.Errorf("%d bytes are %d compressed and %d plain", len(body), sizes[true], sizes[false])
	}
}

// HC-02: entries expire by the time at which they were stored.
func TestExpiration(t *testing.T) {
	for _, c := range []struct {
		expires any
		age     time.Duration
		hit     bool
	}{{100, 99 * time.Second, true}, {100, 101 * time.Second, false}, {0, 1000 * time.Hour, true}} {
		o := newOrigin(t, map[string]any{"HTTPCACHE_EXPIRATION_SECS": c.expires})
		o.says(200, "first")
		o.get(t)
		files := o.files(t)
		if len(files) != 1 {
			t.Fatalf("files = %v, want one", files)
		}
		then := time.Now().Add(-c.age)
		if err := os.Chtimes(files[0], then, then); err != nil {
			t.Fatal(err)
		}
		o.says(200, "second")
		if resp := o.get(t); isCached(resp) != c.hit {
			t.Errorf("expiration %v, age %v: hit %v, want %v", c.expires, c.age, isCached(resp), c.hit)
		}
	}
}

// files returns the files of the cache.
func (o *origin) files(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(o.env.Settings.String("HTTPCACHE_DIR"), "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// HC-03: an entry that a crash or a disk has damaged is a miss and goes away, and the next response repairs it.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"truncated":   func(b []byte) []byte { return b[:len(b)-5] },
		"only begun":  func(b []byte) []byte { return b[:4] },
		"empty":       func([]byte) []byte { return nil },
		"a bit":       func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"zeros":       func(b []byte) []byte { return make([]byte, len(b)) },
		"another":     func([]byte) []byte { return []byte("this is no record of a cache") },
		"longer":      func(b []byte) []byte { return append(b, 0) },
		"other kind":  func(b []byte) []byte { b[len(magic)] = 9; return b },
		"false gzip":  func(b []byte) []byte { b[len(magic)] = zipped; return b },
		"bad content": func([]byte) []byte { return sealed([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}) },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t, nil)
			o.says(200, "first")
			o.get(t)
			file := o.files(t)[0]
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			o.fails(errLost)
			if _, err := o.cache.Fetch(t.Context(), &crawl.Request{URL: page}); !errors.Is(err, errLost) {
				t.Errorf("error %v, want that of the network", err)
			}
			wantLog(t, o, "treating it as a cache miss")
			if left := o.files(t); len(left) != 0 {
				t.Errorf("files = %v, want the damaged one gone", left)
			}
			o.says(200, "second")
			wantBody(t, o.get(t), "second", false)
			wantBody(t, o.get(t), "second", true)
			o.wantStats(t, map[string]int64{"retrieve_error": 1, "miss": 3, "hit": 1})
		})
	}
}

// sealed returns a record whose checksum is right.
func sealed(rest []byte) []byte {
	record, err := encode([]*Stored{{Header: header("A", "b")}}, false)
	if err != nil {
		panic(err)
	}
	sum := checksum(rest)
	return append(append(record[:headBytes-4:headBytes-4], byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum)), rest...)
}

// HC-04: what can not be read is not there for HTTPCACHE_IGNORE_MISSING either.
func TestDamagedAndMissing(t *testing.T) {
	o := newOrigin(t, map[string]any{"HTTPCACHE_IGNORE_MISSING": true})
	key, err := fingerprint(&crawl.Request{URL: page})
	if err != nil {
		t.Fatal(err)
	}
	storage, err := newFilesystem(o.env)
	if err != nil {
		t.Fatal(err)
	}
	if err := storage.Save(t.Context(), hexKey(key), []byte("garbage")); err != nil {
		t.Fatal(err)
	}
	o.wantIgnored(t, &crawl.Request{URL: page})
	o.wantStats(t, map[string]int64{"retrieve_error": 1, "ignore": 1, "miss": 1})
}

// HC-06: Options.NoCache neither reads nor stores, nor does a request whose file is
// to be written elsewhere.
func TestNoCache(t *testing.T) {
	for _, options := range []crawl.Options{{NoCache: true}, {FTPLocalFilename: "file"}} {
		o := newOrigin(t, nil)
		o.says(200, "first")
		past := &crawl.Request{URL: page, Options: options}
		o.fetch(t, past)
		if files := o.files(t); len(files) != 0 {
			t.Errorf("%+v: files = %v, want none", options, files)
		}
		o.get(t)
		o.says(200, "second")
		wantBody(t, o.fetch(t, past), "second", false)
		wantBody(t, o.get(t), "first", true)
	}
}

// crawlee#3715: nothing of a page goes into the name of a file.
func TestFilesOfOddRequests(t *testing.T) {
	dir := t.TempDir()
	o := newOrigin(t, map[string]any{"HTTPCACHE_DIR": filepath.Join(dir, "a", "cache")})
	o.says(200, "x", "Vary", "../../x")
	for _, u := range []string{"http://a.test/../../x", "http://a.test/..%2f..%2f..%2fx", "http://a.test/?../../../x", "http://..%2f..%2fx/", "http://a.test/" + strings.Repeat("x", 5000)} {
		o.fetch(t, &crawl.Request{URL: u, Jar: "../../x", Method: "GET"})
	}
	name := regexp.MustCompile(`^a/cache/[^/]+/[0-9a-f]{2}/[0-9a-f]{40}$`)
	found := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			found++
			if !name.MatchString(path) {
				t.Errorf("a file %s", path)
			}
		}
		return err
	})
	if err != nil || found != 5 {
		t.Errorf("%d files, %v, want 5", found, err)
	}
}

// HC-08: a request that is not in the cache is ignored, until it is.
func TestIgnoreMissing(t *testing.T) {
	dir := t.TempDir()
	empty := newOrigin(t, map[string]any{"HTTPCACHE_IGNORE_MISSING": true, "HTTPCACHE_DIR": dir})
	empty.wantIgnored(t, &crawl.Request{URL: page})
	empty.wantStats(t, map[string]int64{"ignore": 1, "miss": 1})
	other := newOrigin(t, map[string]any{"HTTPCACHE_DIR": dir})
	other.says(200, "first")
	other.get(t)
	wantBody(t, empty.get(t), "first", true)
}

func (o *origin) wantIgnored(t *testing.T, r *crawl.Request) {
	t.Helper()
	o.answer = func(r *crawl.Request) (*crawl.Response, error) {
		t.Errorf("%v was sent", r)
		return nil, errLost
	}
	_, err := o.cache.Fetch(t.Context(), r)
	if ignored := (*crawl.IgnoreError)(nil); !errors.As(err, &ignored) {
		t.Errorf("error %v, want the request ignored", err)
	}
}

// HC-09, HC-10: schemes and statuses that are not stored.
func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		settings map[string]any
		url      string
		stored   bool
	}{
		{nil, "file:///etc/hosts", false},
		{nil, "s3://bucket/key", true},
		{nil, "data:,text", false},
		{map[string]any{"HTTPCACHE_IGNORE_SCHEMES": "s3"}, "s3://bucket/key", false},
		{map[string]any{"HTTPCACHE_IGNORE_SCHEMES": "s3"}, "file:///etc/hosts", true},
		{map[string]any{"HTTPCACHE_IGNORE_HTTP_CODES": "202"}, page, false},
		{map[string]any{"HTTPCACHE_IGNORE_HTTP_CODES": "203"}, page, true},
	} {
		o := newOrigin(t, c.settings)
		o.says(202, "first")
		o.fetch(t, &crawl.Request{URL: c.url})
		o.says(202, "second")
		if got := isCached(o.fetch(t, &crawl.Request{URL: c.url})); got != c.stored {
			t.Errorf("%v %s: stored %v, want %v", c.settings, c.url, got, c.stored)
		}
	}
}

// What is no whole page is never stored, and does not replace one (httrack#840).
func TestIncomplete(t *testing.T) {
	for name, resp := range map[string]*crawl.Response{
		"data loss": {Status: 200, Flags: []string{downloader.FlagDataLoss}},
		"partial":   {Status: 206},
		"not new":   {Status: 304},
		"switch":    {Status: 101},
	} {
		o := newOrigin(t, map[string]any{"HTTPCACHE_POLICY": "rfc9111"})
		o.says(200, "whole", "Cache-Control", "max-age=0")
		o.get(t)
		o.answer = func(r *crawl.Request) (*crawl.Response, error) {
			return &crawl.Response{Request: r, URL: r.URL, Status: resp.Status, Flags: resp.Flags, Header: header("Expires", ago(-100)), Body: []byte("part")}, nil
		}
		if resp.Status != 304 {
			wantBody(t, o.get(t), "part", false)
		}
		o.fetch(t, &crawl.Request{URL: page + "/2"})
		o.fails(errLost)
		wantBody(t, o.get(t), "whole", true)
		if _, err := o.cache.Fetch(t.Context(), &crawl.Request{URL: page + "/2"}); err == nil {
			t.Errorf("%s: it was stored", name)
		}
	}
}

// A request for a part of a page, as a download that goes on sends it, has nothing to do with the page that is stored.
func TestRangePassesBy(t *testing.T) {
	o := newOrigin(t, nil)
	o.says(200, "0123456789")
	o.get(t)
	o.says(206, "012")
	wantBody(t, o.fetch(t, &crawl.Request{URL: page, Header: map[string][]string{"range": {"bytes=0-2"}}}), "012", false)
	wantBody(t, o.get(t), "0123456789", true)
}

// Without HTTPCACHE_ENABLED there is no middleware at all.
func TestOff(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"HTTPCACHE_ENABLED": false})
	if m, err := newCache(env); m != nil || err != nil {
		t.Errorf("newCache = %v, %v, want nothing", m != nil, err)
	}
}

// What can not be stored is told of once and counted, and the page is handed on.
func TestStoreError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := newOrigin(t, map[string]any{"HTTPCACHE_DIR": file})
	o.says(200, "page")
	for range 3 {
		wantBody(t, o.get(t), "page", false)
	}
	o.wantStats(t, map[string]int64{"store_error": 3, "store": 0})
	wantLog(t, o, "Error storing <GET http://cache.test/page> in the cache")
}

// The Date is that of the response, or else of its arrival.
func TestDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(t, nil)
		o.answer = func(r *crawl.Request) (*crawl.Response, error) {
			return &crawl.Response{Request: r, URL: r.URL, Status: 200}, nil
		}
		now := ago(0)
		o.get(t)
		<-time.After(time.Hour)
		if got := o.get(t).Header.Get("Date"); got != now {
			t.Errorf("Date = %q, want %q", got, now)
		}
	})
}
