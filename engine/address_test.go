package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/skeincrawl/skein/crawl"
)

// The names of this test are answered without a network: those below .one.test are
// 127.0.0.1, those below .two.test 127.0.0.2, others do not exist.
func init() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for serveName(server) == nil {
			}
		}()
		return client, nil
	}}
}

// serveName answers one question as a server for names does over TCP.
func serveName(c net.Conn) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	b := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(b); err != nil || len(m.Questions) != 1 {
		return errors.New("no question")
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	last := map[bool]byte{true: 1, false: 2}[strings.HasSuffix(q.Name.String(), ".one.test.")]
	switch {
	case !strings.HasSuffix(q.Name.String(), ".one.test.") && !strings.HasSuffix(q.Name.String(), ".two.test."):
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, last}},
		}}
	}
	packed, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
	return err
}

// machine is a server that notes when requests come and how many are with it at
// once. It answers when so many have come together, and a moment later, in which
// more might come.
type machine struct {
	together int
	hold     time.Duration

	mu           sync.Mutex
	active, most int
	gate         chan struct{}
}

func (m *machine) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-m.enter():
		<-time.After(m.hold)
	case <-r.Context().Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active--
}

// enter returns what is closed when enough requests have come.
func (m *machine) enter() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gate == nil {
		m.gate = make(chan struct{})
	}
	m.active++
	m.most = max(m.most, m.active)
	gate := m.gate
	if m.active >= m.together {
		close(gate)
		m.gate = nil
	}
	return gate
}

// named returns an URL of a server under another name.
func named(url, name string) string { return strings.Replace(url, "127.0.0.1", name, 1) }

// Names of one address share its limit, from the first request on: nothing is
// sent before the address is known. Without the setting each name has its own.
func TestLimitPerAddress(t *testing.T) {
	for _, c := range []struct {
		perAddress string
		most       int
	}{{"2", 2}, {"0", 6}} {
		m := &machine{together: c.most, hold: 30 * time.Millisecond}
		srv := serve(t, m.ServeHTTP)
		p := &probe{}
		p.begin = func(_ context.Context, out crawl.Out) error {
			for _, path := range []string{"/1", "/2"} {
				for _, name := range []string{"a.one.test", "b.one.test", "c.one.test"} {
					out.Request(&crawl.Request{URL: named(srv.URL, name) + path})
				}
			}
			return out.Err()
		}
		p.crawl(t, "SCHEDULER_PRIORITY_QUEUE=priority", "CONCURRENT_REQUESTS_PER_IP="+c.perAddress, "CONCURRENT_REQUESTS_PER_DOMAIN=2").
			want(t, "finished", map[string]int64{"response_received_count": 6})
		if m.most != c.most {
			t.Errorf("CONCURRENT_REQUESTS_PER_IP=%s: %d requests at once, want %d", c.perAddress, m.most, c.most)
		}
	}
}

// scrapy/scrapy#1659: the delay counts by address too, also for the first requests,
// and for a fetch within a callback. A name that does not resolve is a slot of its
// own and holds up nobody.
func TestDelayPerAddress(t *testing.T) {
	srv := serve(t, new(machine).ServeHTTP)
	p := &probe{}
	var sent []time.Time
	p.fetch = func(ctx context.Context, r *crawl.Request, next crawl.Fetcher) (*crawl.Response, error) {
		if !strings.Contains(r.URL, "nowhere.test") {
			p.mu.Lock()
			sent = append(sent, time.Now()) // before the sending, from which the delay counts
			p.mu.Unlock()
		}
		return next.Fetch(ctx, r)
	}
	p.starts("http://nowhere.test/", named(srv.URL, "a.one.test"), named(srv.URL, "b.one.test"), srv.URL)
	p.page = func(ctx context.Context, r *crawl.Response, out crawl.Out) error {
		if strings.Contains(r.URL, "a.one.test") {
			_, err := out.Fetch(ctx, &crawl.Request{URL: named(srv.URL, "c.one.test") + "/inner"})
			return err
		}
		return nil
	}
	const delay = 100 * time.Millisecond
	p.crawl(t, "SCHEDULER_PRIORITY_QUEUE=priority", "CONCURRENT_REQUESTS_PER_IP=8", "DOWNLOAD_DELAY=100ms", "RANDOMIZE_DOWNLOAD_DELAY=False", "RETRY_ENABLED=False").
		want(t, "finished", map[string]int64{"response_received_count": 3, "downloader/exception_count": 1})
	if len(sent) != 4 {
		t.Fatalf("%d requests were sent, want 4", len(sent))
	}
	for i := range sent[1:] {
		if gap := sent[i+1].Sub(sent[i]); gap < delay {
			t.Errorf("request %d was sent %v after the one before, want %v", i+2, gap, delay)
		}
	}
}
