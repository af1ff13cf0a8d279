package crawltest

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// A Trap is one thing that a server does wrong, or that pages ask for. What is
// wanted of it is that of a crawl with ROBOTSTXT_OBEY, a USER_AGENT that names the
// crawler Trapbot, and otherwise the defaults, whose spider follows all links.
type Trap struct {
	// Name is the path of the trap on a [Hostile], without the first slash.
	Name string

	// Report is where it was seen, such as golang/go#21290; "" if it is too
	// common for that.
	Report string

	// Hosts are the hosts of a trap that needs some of its own. They are to be
	// asked for through the server as a proxy, and requests begin at the first.
	Hosts []string

	// Method, Header and Options are those of the request; the zero values are
	// usual.
	Method  string
	Header  http.Header
	Options crawl.Options

	// Want is how it should end.
	Want Outcome

	path    string       // where requests begin, within the trap
	start   string       // URL where requests begin, if it is not made of name and path
	replies replies      // by the path within the trap
	rest    func(*visit) // for all other paths; may be nil
}

// An Outcome is how a crawl that begins at a [Trap] ends: at the first page
// without links, or with an error.
type Outcome struct {
	Status  int
	Text    string // of the page, decoded
	Flags   []string
	Failure crawl.FailureKind // "" if there is a page
	Hits    int               // requests that the trap gets for that; 0 is any number
}

// Equal reports whether an outcome is the one that is wanted.
func (o Outcome) Equal(want Outcome) bool {
	return o.Status == want.Status && o.Text == want.Text && o.Failure == want.Failure &&
		slices.Equal(o.Flags, want.Flags) && (want.Hits == 0 || o.Hits == want.Hits)
}

// URL returns where requests to a trap begin, on a server at an address with port.
func (t Trap) URL(addr string) string {
	if t.start != "" {
		_, port, _ := net.SplitHostPort(addr)
		return strings.NewReplacer("{addr}", addr, "{port}", port).Replace(t.start)
	}
	if len(t.Hosts) > 0 {
		return "http://" + t.Hosts[0] + t.path
	}
	return "http://" + addr + "/" + t.Name + t.path
}

// Traps returns all traps.
func Traps() []Trap {
	return slices.Concat(httpTraps(), codingTraps(), urlTraps(), redirectTraps(), cookieTraps(), robotsTraps(), charsetTraps(), retryTraps())
}

// whole is the text of a page that came as it should.
const whole = "<p>whole</p>"

// got is the outcome of a whole page.
func got(flags ...string) Outcome { return Outcome{Status: 200, Text: whole, Flags: flags} }

// failed is the outcome of an error that is tried again twice.
func failed(kind crawl.FailureKind) Outcome { return Outcome{Failure: kind, Hits: 3} }

// once is the outcome of an error that another try would not change.
func once(kind crawl.FailureKind) Outcome { return Outcome{Failure: kind, Hits: 1} }

// quick returns the options of requests that would take too long.
func quick() crawl.Options { return crawl.Options{Timeout: 300 * time.Millisecond} }

// small returns the options of requests that would bring too much.
func small() crawl.Options { return crawl.Options{MaxSize: 1 << 20} }

// replies are what a trap sends, by the path within it.
type replies = map[string]func(*visit)

// always returns the replies of a trap that always sends the same.
func always(text string) replies {
	return replies{"": send(text)}
}

func send(text string) func(*visit) { return func(v *visit) { v.send(text) } }

// page returns a response as it should be. headers are whole lines.
func page(status, headers, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, headers, len(body), body)
}

const html = "Content-Type: text/html; charset=utf-8\r\n"

func ok(body string) string { return page("200 OK", html, body) }

func to(location string) string { return page("302 Found", "Location: "+location+"\r\n", "") }

// echo answers with what the client sent.
func echo(what func(*visit) string) func(*visit) {
	return func(v *visit) { v.send(page("200 OK", "Content-Type: text/plain; charset=utf-8\r\n", what(v))) }
}

func echoPath(v *visit) string { return v.path }

func echoCookie(v *visit) string { return v.header.Get("Cookie") }

// stall sends a text and nothing more.
func stall(text string) func(*visit) {
	return func(v *visit) {
		v.send(text)
		_, _ = v.in.ReadByte() // until the client goes away
	}
}

// drip sends a text again and again, slowly, until the client goes away.
func drip(text string) func(*visit) {
	return func(v *visit) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := v.conn.Write([]byte(text)); err != nil {
				return
			}
		}
	}
}

// flood sends a text again and again until the client goes away.
func flood(begin, text string) func(*visit) {
	return func(v *visit) {
		v.send(begin)
		for {
			if _, err := v.conn.Write([]byte(text)); err != nil {
				return
			}
		}
	}
}

// reset resets the connection.
func reset(v *visit) {
	if tcp, ok := v.conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the connection is closed then anyway
	}
}
