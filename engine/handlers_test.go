package engine_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/downloader"
	"github.com/skeincrawl/skein/engine"
)

// finger is a handler of a scheme that the library does not know: it sends a
// line to the host and reads what comes.
type finger struct {
	env    *crawl.Env
	closed *atomic.Int32
}

func (f *finger) Fetch(ctx context.Context, r *crawl.Request) (*crawl.Response, error) {
	c, err := f.env.Dial(ctx, "tcp", strings.TrimPrefix(r.URL, "finger://"))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	body, err := io.ReadAll(c)
	return &crawl.Response{Request: r, URL: r.URL, Status: 200, Body: body}, err
}

func (f *finger) Close() error {
	f.closed.Add(1)
	return errors.New("no goodbye")
}

var fingerClosed atomic.Int32

func init() {
	downloader.Handlers.Register("finger", func(env *crawl.Env) (crawl.Fetcher, error) { return &finger{env, &fingerClosed}, nil })
}

// A handler of one's own is a plug-in like others: it gets requests of its scheme
// through all layers, connects as the crawl does, and is closed at its end.
func TestHandlerOfOnesOwn(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "plan")
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-served })
	var p probe
	p.starts(named("finger://"+l.Addr().String(), "a.one.test"))
	end := p.crawl(t, `DOWNLOAD_HANDLERS={"finger":"finger"}`)
	end.want(t, "finished", map[string]int64{"response_received_count": 1})
	if n := fingerClosed.Load(); n != 1 {
		t.Errorf("closed %d times, want once", n)
	}
	if !strings.Contains(p.lines.String(), "Downloader close failure") {
		t.Error("no line tells that the handler could not be closed")
	}
}

// DENY_PRIVATE_NETWORKS holds for redirects and for what a name leads to, and a
// refused request is not tried again (spider-rs#409).
func TestDenyPrivateInACrawl(t *testing.T) {
	reached := atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(s.Close)
	var p probe
	p.fetch = func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
		if r.URL != "http://public.test/" {
			return next.Fetch(ctx, r)
		}
		return &crawl.Response{Request: r, URL: r.URL, Status: 302, Header: http.Header{"Location": {s.URL + "/inside"}}}, nil
	}
	p.starts(named(s.URL, "a.one.test"), s.URL, "http://public.test/")
	end := finish(t.Context(), t, probeOptions(t, &p, &p, "DENY_PRIVATE_NETWORKS=True"))
	if n := end.stats["downloader/exception_type_count/AddressDeniedError"]; n != int64(3) || reached.Load() != 0 {
		t.Errorf("denied %v, reached %d, want 3 and 0: %v", n, reached.Load(), end.stats)
	}
	if n := end.stats["retry/count"]; n != nil {
		t.Errorf("tried again %v times", n)
	}
}

// What dialer and handlers can not work with is told before the crawl begins.
func TestWireSettingsRefused(t *testing.T) {
	for assign, want := range map[string]string{
		"DOWNLOAD_HANDLERS=gopher=gophre":             `there is no download handler "gophre"`,
		"DOWNLOAD_BIND_ADDRESS=eth0":                  `DOWNLOAD_BIND_ADDRESS="eth0": want an address of this machine`,
		"DOWNLOADER_CLIENT_TLS_CIPHERS=HIGH:!aNULL":   `DOWNLOADER_CLIENT_TLS_CIPHERS="HIGH:!aNULL": there is no cipher "HIGH"`,
		"DOWNLOAD_HANDLERS={\"http\":\"scrapy.x.Y\"}": `DOWNLOAD_HANDLERS of http URLs: there is no download handler "scrapy.x.Y"`,
	} {
		var p probe
		_, err := engine.New(probeOptions(t, &p, &p, assign))
		if config := (*engine.ConfigError)(nil); !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %s", assign, err, want)
		}
	}
}
