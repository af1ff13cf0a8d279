package downloader

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// scripted is a connection whose other side has said all it will.
type scripted struct {
	io.Reader
	net.Conn
}

func (c scripted) Read(p []byte) (int, error) { return c.Reader.Read(p) }
func (scripted) Write(p []byte) (int, error)  { return len(p), nil }
func (scripted) Close() error                 { return nil }
func (scripted) SetDeadline(time.Time) error  { return nil }
func (scripted) LocalAddr() net.Addr          { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (c scripted) RemoteAddr() net.Addr       { return c.LocalAddr() }

// FuzzFTP: whatever a server says, the data comes from its own address, and a
// request ends with a response or an error.
func FuzzFTP(f *testing.F) {
	const hello = "220 hi\r\n331 who\r\n230 you\r\n200 binary\r\n"
	f.Add(hello+"229 (|||4000|)\r\n150 here\r\n226 done\r\n", "file")
	f.Add(hello+"500 no\r\n227 (10,0,0,1,4,5)\r\n150 here\r\n226 done\r\n", "file")
	f.Add(hello+"229 (|||99999|)\r\n", "")
	f.Add("220-many\r\n220-lines\r\n220 hi\r\n230 you\r\n200 x\r\n229 (|||1|)\r\n550 no file\r\n", "")
	f.Fuzz(func(t *testing.T, control, data string) {
		dials := 0
		h := NewFTP(FTPConfig{Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dials++
			if host, _, err := net.SplitHostPort(addr); err != nil || host != "127.0.0.1" {
				t.Errorf("it connects to %q", addr)
			}
			if dials == 1 {
				return scripted{Reader: strings.NewReader(control)}, nil
			}
			return scripted{Reader: strings.NewReader(data)}, nil
		}})
		resp, err := h.Fetch(t.Context(), &crawl.Request{URL: "ftp://127.0.0.1/a"})
		if (resp == nil) == (err == nil) {
			t.Errorf("response = %v, error = %v", resp, err)
		}
		if resp != nil && resp.Status == 200 && string(resp.Body) != data {
			t.Errorf("body = %q, want %q", resp.Body, data)
		}
	})
}
