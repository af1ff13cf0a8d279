package httpcache

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// wantNoSecret checks that the file of a response has the text of its page and
// not that of a request.
func wantNoSecret(t *testing.T, file, secret, body string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.ReplaceAll(string(b), body, ""); strings.Contains(text, secret) || text == string(b) {
		t.Errorf("%s has %q beside the page, or no page", file, secret)
	}
}

// stale is a policy for which everything is stale.
type stale struct{}

func (stale) Admits(*crawl.Request) bool                    { return true }
func (stale) Storable(*crawl.Request, *crawl.Response) bool { return true }
func (stale) Fresh(*crawl.Request, *Stored) bool            { return false }

// confirming is one for which it is valid all the same.
type confirming struct{ stale }

func (confirming) Condition(*crawl.Request, *Stored) http.Header       { return nil }
func (confirming) Valid(*crawl.Request, *Stored, *crawl.Response) bool { return true }
func (confirming) Recover(*crawl.Request, *Stored) bool                { return false }

func init() {
	Policies.Register("stale", func(*crawl.Env) (Policy, error) { return stale{}, nil })
	Policies.Register("confirming", func(*crawl.Env) (Policy, error) { return confirming{}, nil })
	Policies.Register("broken", func(*crawl.Env) (Policy, error) { return nil, errors.New("no policy today") })
	Storages.Register("closing", func(env *crawl.Env) (Storage, error) { return &closing{stats: env.Stats}, nil })
}

// closing is a storage that is down.
type closing struct{ stats *crawl.Stats }

var errDown = errors.New("the database is down")

func (s *closing) Load(context.Context, string) ([]byte, error) { return nil, errDown }
func (s *closing) Save(context.Context, string, []byte) error   { return errDown }
func (s *closing) Remove(context.Context, string) error         { return errDown }

func (s *closing) Close() error {
	s.stats.Inc("closed")
	return nil
}

// HC-11: a policy of one's own whose responses are stale and valid.
func TestStaleAndValid(t *testing.T) {
	o := newOrigin(t, map[string]any{"HTTPCACHE_POLICY": "confirming"})
	o.says(200, "first")
	o.get(t)
	o.says(200, "second")
	wantBody(t, o.get(t), "first", true)
	o.wantStats(t, map[string]int64{"revalidate": 1, "store": 1})
	o.fails(errLost)
	if _, err := o.cache.Fetch(t.Context(), &crawl.Request{URL: page}); !errors.Is(err, errLost) {
		t.Errorf("error %v, want that of the network, since the policy does not recover", err)
	}
}

// HC-25: a policy that can do no more than it must fetches anew, and recovers from errors of the network.
func TestSmallestPolicy(t *testing.T) {
	o := newOrigin(t, map[string]any{"HTTPCACHE_POLICY": "stale"})
	o.says(200, "first")
	o.get(t)
	o.says(200, "second", "Vary", "X")
	wantBody(t, o.get(t, "X", "1"), "second", false)
	o.fails(errLost)
	resp := o.get(t, "X", "2")
	wantBody(t, resp, "second", true)
	if resp.Header["Age"] != nil {
		t.Errorf("Age = %q, want none", resp.Header["Age"])
	}
	o.wantStats(t, map[string]int64{"invalidate": 1, "errorrecovery": 1})
}

// A storage that is down does the crawl no harm, and is closed at its end.
func TestStorageDown(t *testing.T) {
	o := newOrigin(t, map[string]any{"HTTPCACHE_STORAGE": "closing", "HTTPCACHE_POLICY": "rfc9111"})
	o.says(200, "page", "Cache-Control", "max-age=60")
	wantBody(t, o.get(t), "page", false)
	o.fetch(t, &crawl.Request{URL: page, Method: http.MethodPost})
	o.wantStats(t, map[string]int64{"retrieve_error": 1, "store_error": 1})
	wantLog(t, o, "treating it as a cache miss")
	if !strings.Contains(o.log.String(), errDown.Error()) {
		t.Errorf("log does not say %q:\n%s", errDown, o.log)
	}
	if err := crawl.Send(t.Context(), o.env.Signals, crawl.SpiderClosed{}); err != nil || o.env.Stats.Count("closed") != 1 {
		t.Errorf("closed %d times, %v, want once", o.env.Stats.Count("closed"), err)
	}
}

// A fingerprint that can not be made is the error of its request.
func TestNoFingerprint(t *testing.T) {
	o := newOrigin(t, nil)
	bad := errors.New("no fingerprint")
	o.env.Fingerprint = func(*crawl.Request) ([20]byte, error) { return [20]byte{}, bad }
	if _, err := o.cache.Fetch(t.Context(), &crawl.Request{URL: page}); !errors.Is(err, bad) {
		t.Errorf("error %v, want %v", err, bad)
	}
}

// What is wrong with a policy or a storage names the setting.
func TestWrongParts(t *testing.T) {
	env, _ := newEnv(t, map[string]any{"HTTPCACHE_POLICY": "broken"})
	if _, err := newCache(env); err == nil || !strings.Contains(err.Error(), "HTTPCACHE_POLICY broken: no policy today") {
		t.Errorf("error %v, want it to name setting, value and reason", err)
	}
}
