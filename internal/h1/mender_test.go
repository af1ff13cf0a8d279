package h1_test

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/internal/h1"
)

// mended returns what a mender makes of a stream that comes in pieces of n bytes
// and then ends.
func mended(stream string, n int, head bool) (string, h1.Note) {
	var m h1.Mender
	var notes h1.Note
	m.Begin(head, &notes)
	var out []byte
	for len(stream) > 0 {
		k := min(n, len(stream))
		out = m.Push(out, []byte(stream[:k]), false)
		stream = stream[k:]
	}
	return string(m.Push(out, nil, true)), notes
}

const ok = "HTTP/1.1 200 OK\r\n"

func TestMender(t *testing.T) {
	const body = "Content-Length: 2\r\n\r\nhi"
	for name, tt := range map[string]struct {
		in, want string
		notes    h1.Note
	}{
		"nothing to mend":            {ok + "A: b\r\n" + body, ok + "A: b\r\n" + body, 0},
		"folded":                     {ok + "A: b\r\n c\r\n" + body, ok + "A: b\r\n c\r\n" + body, 0},
		"folded length":              {ok + "A: b\r\nContent-Length:\r\n 2\r\nC: d\r\n\r\nhi", ok + "A: b\r\nC: d\r\nContent-Length: 2\r\n\r\nhi", 0},
		"folded coding":              {ok + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0},
		"bare line feeds":            {"HTTP/1.1 200 OK\nA: b\n\nhi", ok + "A: b\r\n\r\nhi", 0},
		"no reason":                  {"HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200\r\n\r\n", 0},
		"two responses to one":       {"HTTP/1.1 103 Early Hints\r\nLink\r\n\r\n" + ok + "\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n" + ok + "\r\n", h1.HeaderSkipped},
		"line without colon":         {ok + "no colon\r\n" + body, ok + body, h1.HeaderSkipped},
		"folded under such a line":   {ok + "no colon\r\n more: x\r\n" + body, ok + body, h1.HeaderSkipped},
		"folded first line":          {ok + " x: y\r\nA: b\r\n" + body, ok + "A: b\r\n" + body, h1.HeaderSkipped},
		"name not ASCII":             {ok + "N\xe4me: x\r\n" + body, ok + body, h1.HeaderSkipped},
		"space in the name":          {ok + "My Name: x\r\n" + body, ok + body, h1.HeaderSkipped},
		"no name":                    {ok + ": x\r\n" + body, ok + body, h1.HeaderSkipped},
		"space behind the name":      {ok + "A : b\r\n" + body, ok + "A: b\r\n" + body, h1.HeaderMended},
		"NUL in a value":             {ok + "A: b\x00c\r\n" + body, ok + "A: b c\r\n" + body, h1.HeaderMended},
		"carriage return in a value": {ok + "A: b\rB: c\r\n" + body, ok + "A: b B: c\r\n" + body, h1.HeaderMended},
		"Latin-1 in a value":         {ok + "A: \xe4\r\n" + body, ok + "A: \xe4\r\n" + body, 0},
		"equal lengths in a list":    {ok + "Content-Length: 2, 2\r\n\r\nhi", ok + body, h1.HeaderMended},
		"equal lengths":              {ok + "Content-Length: 2\r\n" + body, ok + body, 0},
		"different lengths":          {ok + "Content-Length: 3\r\n" + body, ok + "Content-Length: 3\r\n" + body, 0},
		"different in a list":        {ok + "Content-Length: 3, 2\r\n\r\nhi", ok + "Content-Length: 3\r\n" + body, h1.HeaderMended},
		"length with a sign":         {ok + "Content-Length: +2\r\n\r\nhi", ok + "\r\nhi", h1.HeaderSkipped},
		"negative length":            {ok + "Content-Length: -1\r\n\r\nhi", ok + "\r\nhi", h1.HeaderSkipped},
		"length of letters":          {ok + "Content-Length: abc\r\n\r\nhi", ok + "\r\nhi", h1.HeaderSkipped},
		"length out of range":        {ok + "Content-Length: 99999999999999999999\r\n\r\nhi", ok + "\r\nhi", h1.HeaderSkipped},
		"no length":                  {ok + "Content-Length:\r\n\r\nhi", ok + "\r\nhi", h1.HeaderSkipped},
		"identity":                   {ok + "Transfer-Encoding: identity\r\n" + body, ok + body, h1.HeaderMended},
		"lower case":                 {"http/1.1 200 OK\r\n" + body, ok + body, h1.HeaderMended},
		"line breaks before":         {"\r\n\n" + ok + body, ok + body, h1.HeaderMended},
		"SHOUTcast":                  {"ICY 200 OK\r\n\r\nhi", "HTTP/1.0 200 OK\r\n\r\nhi", h1.HeaderMended},
		"no version":                 {"HTTP 200 OK\r\n\r\nhi", "HTTP/1.0 200 OK\r\n\r\nhi", h1.HeaderMended},
		"version 2 unasked":          {"HTTP/2 200\r\n" + body, "HTTP/1.1 200\r\n" + body, h1.HeaderMended},
		"page only":                  {"<p>hi", "HTTP/1.0 200 OK\r\n\r\n<p>hi", h1.NoHead},
		"another protocol":           {"SSH-2.0-OpenSSH\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n", 0},
		"status of letters":          {"HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", 0},
		"cut head":                   {ok + "A: b\r\nContent-Le", ok + "A: b\r\n", 0},
	} {
		for _, n := range []int{1, 2, 7, 1 << 20} {
			if got, notes := mended(tt.in, n, false); got != tt.want || notes != tt.notes {
				t.Errorf("%s in pieces of %d: %q %b, want %q %b", name, n, got, notes, tt.want, tt.notes)
			}
		}
	}
}

func TestMenderChunks(t *testing.T) {
	const head = ok + "Transfer-Encoding: chunked\r\n\r\n"
	const whole = head + "3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"
	for name, tt := range map[string]struct {
		in, want string
		notes    h1.Note
	}{
		"nothing to mend":     {whole, whole, 0},
		"said twice":          {ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", head + "0\r\n\r\n", h1.HeaderMended},
		"said in a list":      {ok + "Transfer-Encoding: chunked, Chunked\r\n\r\n0\r\n\r\n", head + "0\r\n\r\n", h1.HeaderMended},
		"another coding":      {ok + "Transfer-Encoding: GZip, chunked\r\n\r\n0\r\n\r\n", ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", h1.HeaderMended},
		"bare line feeds":     {head + "3\nabc\nA\n0123456789\n0\n\n", whole, h1.ChunksMended},
		"extension, trailer":  {head + "3 ;x=y\r\nabc\r\n A\r\n0123456789\r\n0\r\nT: x\r\n\r\n", whole, 0},
		"ends behind the 0":   {head + "3\r\nabc\r\nA\r\n0123456789\r\n0\r\n", whole, h1.ChunksMended},
		"ends in the trailer": {head + "3\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: x", whole, h1.ChunksMended},
		"ends in the 0":       {head + "3\r\nabc\r\n0", head + "3\r\nabc\r\n0", 0},
		"ends in a chunk":     {head + "3\r\nab", head + "3\r\nab", 0},
		"ends at a chunk":     {head + "3\r\nabc\r\n", head + "3\r\nabc\r\n", 0},
		"too long a chunk":    {head + "3\r\nabcd\r\n0\r\n\r\n", head + "3\r\nabcd\r\n0\r\n\r\n", 0},
		"no number":           {head + "x\r\nabc", head + "x\r\nabc", 0},
		"negative":            {head + "-3\r\nabc", head + "-3\r\nabc", 0},
		"HTTP/1.0":            {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc", "HTTP/1.0 200 OK\r\n\r\n3\nabc", 0},
		"not modified":        {"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc", "HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", 0},
	} {
		for _, n := range []int{1, 2, 7, 1 << 20} {
			if got, notes := mended(tt.in, n, false); got != tt.want || notes != tt.notes {
				t.Errorf("%s in pieces of %d: %q %b, want %q %b", name, n, got, notes, tt.want, tt.notes)
			}
		}
	}
	if got, notes := mended(head+"3\nabc", 9, true); got != head || notes != 0 {
		t.Errorf("the answer to HEAD: %q %b, want the head", got, notes)
	}
	var m h1.Mender
	m.Begin(true, new(h1.Note))
	if m.Push(nil, []byte(head), false); !m.Extra() {
		t.Error("the answer to HEAD says that there are chunks, and the connection goes on")
	}
}

// A mender has another response after the first, if it is told so. What comes
// before the first request is passed on, and what comes behind a response and
// belongs to none is left out.
func TestMenderAgain(t *testing.T) {
	var m h1.Mender
	var first, second, third h1.Note
	if out := m.Push(nil, []byte("x\n"), false); string(out) != "x\n" || !m.Pass(5) || m.Extra() {
		t.Errorf("before the first request: %q", out)
	}
	m.Begin(false, &first)
	out := m.Push(nil, []byte(ok+"bad\r\nContent-Length: 5\r\n\r\nab"), false)
	if !m.Pass(2) || m.Pass(2) || !m.Pass(1) || m.Pass(1) {
		t.Error("a body with a length is not passed on, or more than that")
	}
	m.Begin(false, &second)
	out = m.Push(out, []byte("HTTP/1.1 204 No\r\n\r\n"), false)
	m.Begin(false, &third)
	out = m.Push(out, []byte("<p>\n\n"), true)
	if want := ok + "Content-Length: 5\r\n\r\nabHTTP/1.1 204 No\r\n\r\n<p>\r\n\r\n"; string(out) != want || first != h1.HeaderSkipped || second != 0 || m.Extra() {
		t.Errorf("responses: %q %b %b, want %q", out, first, second, want)
	}
}

func TestMenderExtra(t *testing.T) {
	const extra = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
	for name, response := range map[string]string{
		"length":       ok + "Content-Length: 2\r\n\r\nhi",
		"no length":    ok + "Content-Length: 0\r\n\r\n",
		"chunks":       ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"no content":   "HTTP/1.1 204 No\r\n\r\n",
		"not modified": "HTTP/1.1 304 No\r\nContent-Length: 2\r\n\r\n",
		"HEAD":         ok + "Content-Length: 2\r\n\r\n",
	} {
		for _, n := range []int{1, 3, 1 << 10} {
			var m h1.Mender
			var notes h1.Note
			m.Begin(name == "HEAD", &notes)
			var out []byte
			for stream := response + extra; stream != ""; {
				k := min(n, len(stream))
				out = m.Push(out, []byte(stream[:k]), false)
				stream = stream[k:]
			}
			if out = m.Push(out, nil, true); string(out) != response || !m.Extra() {
				t.Errorf("%s in pieces of %d: %q, extra = %v, want %q", name, n, out, m.Extra(), response)
			}
		}
	}
	if out, _ := mended(ok+"\r\nhi"+extra, 7, false); out != ok+"\r\nhi"+extra {
		t.Errorf("a body to the end of the connection: %q", out)
	}
}

// What never ends is passed on, and its reader has to give up.
func TestMenderEndless(t *testing.T) {
	for name, begin := range map[string]string{
		"head":       ok,
		"chunk line": ok + "Transfer-Encoding: chunked\r\n\r\n",
		"trailers":   ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n",
	} {
		var m h1.Mender
		var notes h1.Note
		m.Begin(false, &notes)
		out := m.Push(nil, []byte(begin), false)
		line := []byte("A: " + strings.Repeat("a", 1000) + "\n")
		if name == "chunk line" {
			line = line[:1000]
		}
		for range 2 * h1.MaxHead / len(line) {
			out = m.Push(out, line, false)
		}
		if !m.Pass(1<<30) || len(out) < h1.MaxHead/2 {
			t.Errorf("%s: %d bytes came through", name, len(out))
		}
	}
}

// A head with any number of lengths is no larger when it is mended: two that differ
// are enough to refuse it.
func TestMenderManyLengths(t *testing.T) {
	var list strings.Builder
	for i := range 20_000 {
		list.WriteString(strconv.Itoa(i) + ",")
	}
	for name, head := range map[string]string{
		"a list": "Content-Length: " + list.String() + "1\r\n",
		"lines":  "Content-Length: " + strings.ReplaceAll(list.String(), ",", "\r\nContent-Length: ") + "1\r\n",
	} {
		out, _ := mended(ok+head+"\r\nhi", 1<<20, false)
		if want := ok + "Content-Length: 0\r\nContent-Length: 1\r\n\r\nhi"; out != want {
			t.Errorf("%s: %.200q, want %q", name, out, want)
		}
	}
}

// response is what net/http makes of a stream.
type response struct {
	status int
	length int64
	header http.Header
	body   []byte
}

// read reads a response as net/http does.
func read(stream string) (response, error) {
	r := bufio.NewReader(strings.NewReader(stream))
	for {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return response{}, err
		}
		defer resp.Body.Close()
		if resp.StatusCode/100 == 1 && resp.StatusCode != 101 {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		return response{resp.StatusCode, resp.ContentLength, resp.Header, body}, err
	}
}

// FuzzMender: what net/http can read it reads in the same way when it is mended,
// and the pieces in which it comes do not matter.
func FuzzMender(f *testing.F) {
	for _, s := range []string{
		ok + "A: b\r\n c\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.0 404 No\n\nhi", "ICY 200 OK\r\n\r\n", "<p>",
		ok + "Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: x\r\n\r\n", "HTTP/1.1 100 Go on\r\n\r\n" + ok + "\r\n",
		ok + "Content-Length: 2, 2\r\nno colon\r\nA : b\r\n\r\nhi", ok + "Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, stream string, n int) {
		got, notes := mended(stream, max(n, 1), false)
		if once, again := mended(stream, len(stream)+1, false); once != got || notes != again {
			t.Fatalf("in pieces of %d: %q %b, at once %q %b", n, got, notes, once, again)
		}
		want, err := read(stream)
		if err != nil {
			return
		}
		resp, err := read(got)
		if err != nil || resp.status != want.status {
			t.Fatalf("%q became %q: %v", stream, got, err)
		}
		if resp.length == want.length && !bytes.Equal(resp.body, want.body) {
			t.Errorf("%q has the body %q, mended %q", stream, want.body, resp.body)
		}
		if notes == 0 && !maps.EqualFunc(resp.header, want.header, slices.Equal) {
			t.Errorf("%q has the headers %v, mended %v", stream, want.header, resp.header)
		}
	})
}
