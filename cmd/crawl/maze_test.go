package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/skeincrawl/skein/cmd"
	"github.com/skeincrawl/skein/crawl"
)

// mazeProcess is the variable that makes the test binary the command crawl with
// the spider maze.
const mazeProcess = "TEST_MAZE"

func crawlMaze() {
	crawl.Register(crawl.Spec{
		Name: "maze", New: func() crawl.Spider { return &maze{} },
		Settings: map[string]any{"SCHEDULER_MAX_PENDING": 30},
	})
	cmd.Main()
}

// The doors of the maze, in the order in which Start passes them.
const (
	doorPlain   = iota // leads to a page of another host
	doorHops           // redirects over three hosts
	doorFlaky          // is busy the first two times
	doorDead           // is always busy
	doorReset          // cuts the connection
	doorGone           // is not there
	doorAgain          // sends to one page three times
	doorLate           // leads to a page that has to wait
	doorOutside        // enqueues a page from outside of the step
	doorLogin          // sets a cookie without which the next page is closed
	doorItem           // no page, but an item of Start
	doorBig            // leads to many large requests
	doors
)

// mazeHosts are the names of the one server.
var mazeHosts = [...]string{"127.0.0.1", "localhost", "127.0.0.2", "127.0.0.3", "127.0.0.4"}

// maze is a spider of a [mazeSite]. It meets each kind of request and of step that
// a job must not lose, and counts its items in its state.
type maze struct {
	Port int `arg:"port"`
	Size int `arg:"size"` // how many doors
	Pad  int `arg:"pad"`  // bytes that make each request larger
	Big  int `arg:"big"`  // bytes of the large steps
	env  *crawl.Env
	sum  mazeSum
}

// mazeSum is the state of the spider.
type mazeSum struct{ Items, Sum int }

// found is an item. Its text needs every kind of quoting.
type found struct {
	ID    string `json:"id"`
	Value int    `json:"value"`
	Text  string `json:"text"`
}

func newFound(id string) found {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return found{ID: id, Value: int(h.Sum32() % 1000), Text: "«" + id + "»,\n\"" + strings.Repeat("x", int(h.Sum32()%100)) + "\" \t;"}
}

// State implements [crawl.Stater].
func (m *maze) State() any { return &m.sum }

// Open implements [crawl.Opener].
func (m *maze) Open(_ context.Context, env *crawl.Env) error {
	m.env = env
	return nil
}

// url returns a page of door i. Each step away from the door is on another host.
func (m *maze) url(page string, i, away int) string {
	return fmt.Sprintf("http://%s:%d/%s/%d", mazeHosts[(i/doors+away)%len(mazeHosts)], m.Port, page, i)
}

func (m *maze) meta() map[string]any { return map[string]any{"pad": strings.Repeat("p", m.Pad)} }

// Start implements [crawl.Starter].
func (m *maze) Start(_ context.Context, out crawl.Out) error {
	for i := range m.Size {
		if i%doors == doorItem {
			m.find(out, "start", i)
		} else {
			r := &crawl.Request{URL: m.url(doorName(i), i, 0), Priority: i*7%5 - 2, Callback: crawl.With(m.Door, i), Errback: m.Closed}
			if i%doors != doorDead && i%doors != doorReset { // these stay in the job
				r.Meta = m.meta()
			}
			out.Request(r)
		}
		if out.Err() != nil {
			return out.Err()
		}
	}
	return nil
}

func doorName(i int) string {
	return [doors]string{"plain", "hop", "flaky", "dead", "reset", "gone", "again", "late", "outside", "login", "", "big"}[i%doors]
}

// find emits an item and counts it.
func (m *maze) find(out crawl.Out, name string, i int) {
	f := newFound(name + "-" + strconv.Itoa(i))
	crawl.UpdateState(out, func(s *mazeSum) { s.Items, s.Sum = s.Items+1, s.Sum+f.Value })
	out.Item(f)
}

// Parse is not called: every request has its callback.
func (m *maze) Parse(context.Context, *crawl.Response, crawl.Out) error {
	return errors.New("a request has lost its callback")
}

// Door handles the page of a door.
func (m *maze) Door(_ context.Context, _ *crawl.Response, out crawl.Out, i int) error {
	m.find(out, "door", i)
	room := func(page, item string, i int) *crawl.Request {
		return &crawl.Request{URL: m.url(page, i, 1), Callback: crawl.With(m.Room, roomArgs{item, i}), Meta: m.meta(), Priority: i % 3}
	}
	switch i % doors {
	case doorPlain:
		m.find(out, "second", i)
		out.Request(room("room", "room", i))
	case doorAgain:
		for k := range 3 {
			r := room("repeated", "again"+strconv.Itoa(k), i)
			r.DontFilter = true
			out.Request(r)
		}
	case doorLate:
		r := room("later", "late", i)
		r.NotBefore = time.Now().Add(time.Duration(1+i%60) * time.Millisecond)
		out.Request(r)
	case doorOutside:
		if err := m.env.Enqueue(room("enqueued", "outside", i)); err != nil {
			return crawl.Undo(err) // the crawl closes: it is done again
		}
	case doorLogin:
		out.Request(&crawl.Request{URL: m.url("private", i, 0), Callback: crawl.With(m.Room, roomArgs{"private", i})})
	case doorBig:
		for k := range bigSteps(m.Big) {
			r := room("large", "large", i*1000+k)
			r.Meta["pad"] = strings.Repeat("b", bigRequest)
			out.Request(r)
		}
	}
	return out.Err()
}

// bigRequest is the size of a large request.
const bigRequest = 150 << 10

func bigSteps(size int) int { return (size + bigRequest - 1) / bigRequest }

type roomArgs struct {
	Item string
	Door int
}

// Room handles a page behind a door.
func (m *maze) Room(_ context.Context, _ *crawl.Response, out crawl.Out, a roomArgs) error {
	m.find(out, a.Item, a.Door)
	return out.Err()
}

// Closed handles the failure of a door.
func (m *maze) Closed(_ context.Context, f *crawl.Failure, out crawl.Out) error {
	i, err := strconv.Atoi(f.Request.URL[strings.LastIndexByte(f.Request.URL, '/')+1:])
	if err != nil {
		return err
	}
	m.find(out, "closed", i)
	out.Request(&crawl.Request{URL: m.url("detour", i, 1), Callback: crawl.With(m.Room, roomArgs{"detour", i}), Meta: m.meta()})
	return out.Err()
}
