package cookie

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// logOf returns the stored form of changes.
func logOf(changes ...Change) []byte {
	var b []byte
	for i := range changes {
		b = changes[i].Append(b)
	}
	return b
}

// change returns a change of a cookie of a.test that lives some seconds, or for
// the session.
func change(jar, name, value string, seconds int64) Change {
	c := Change{Jar: jar, Cookie: Cookie{Name: name, Value: value, Domain: "a.test", Path: "/", Expires: Session}}
	if seconds != 0 {
		c.Expires = clock.Unix() + seconds
	}
	return c
}

func with(c Change, f func(*Change)) Change {
	f(&c)
	return c
}

func TestFold(t *testing.T) {
	t.Parallel()
	hostOnly := func(c *Change) { c.HostOnly = true }
	deep := func(c *Change) { c.Path = "/deep" }
	other := func(c *Change) { c.Domain = "b.test" }
	for _, tt := range []struct {
		name     string
		in, want []Change
	}{
		{"nothing", nil, nil},
		{"one", []Change{change("", "a", "1", 0)}, []Change{change("", "a", "1", 0)}},
		{"the last wins, in its first place", []Change{change("", "a", "1", 0), change("", "b", "1", 0), change("", "a", "2", 60)}, []Change{change("", "a", "2", 60), change("", "b", "1", 0)}},
		{"deleted", []Change{change("", "a", "1", 0), change("", "a", "", -1)}, nil},
		{"deleted and set again", []Change{change("", "a", "1", 0), change("", "b", "1", 0), change("", "a", "", -1), change("", "a", "2", 0)}, []Change{change("", "b", "1", 0), change("", "a", "2", 0)}},
		{"expired by now", []Change{change("", "a", "1", -3600), change("", "b", "1", 3600)}, []Change{change("", "b", "1", 3600)}},
		{"an expiry at this second", []Change{change("", "a", "1", 0), with(change("", "b", "1", 0), func(c *Change) { c.Expires = clock.Unix() })}, []Change{change("", "a", "1", 0)}},
		{"the host alone, then its domain: one cookie", []Change{with(change("", "a", "1", 0), hostOnly), change("", "a", "2", 0)}, []Change{change("", "a", "2", 0)}},
		{
			"path and domain make another",
			[]Change{change("", "a", "1", 0), with(change("", "a", "2", 0), deep), with(change("", "a", "3", 0), other)},
			[]Change{change("", "a", "1", 0), with(change("", "a", "2", 0), deep), with(change("", "a", "3", 0), other)},
		},
		{"jars by name", []Change{change("z", "a", "1", 0), change("", "a", "2", 0), change("\xff", "a", "3", 0)}, []Change{change("", "a", "2", 0), change("z", "a", "1", 0), change("\xff", "a", "3", 0)}},
	} {
		if got, want := Fold(logOf(tt.in...), clock), logOf(tt.want...); !bytes.Equal(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, want)
		}
	}
}

// A cookie that had to give way does not come back.
func TestFoldForgetsWhatGaveWay(t *testing.T) {
	t.Parallel()
	var all []Change
	for i := range maxPerDomain + 1 {
		all = append(all, change("", fmt.Sprint("c", i), "1", 0))
	}
	all = append(all, change("", "c7", "", -1))
	if got, want := Fold(logOf(all...), clock), logOf(slices.Concat(all[1:7], all[8:maxPerDomain+1])...); !bytes.Equal(got, want) {
		t.Errorf("%d lines, want %d", bytes.Count(got, []byte("\n")), bytes.Count(want, []byte("\n")))
	}
}

func TestFoldOfWhatCanNotBeRead(t *testing.T) {
	t.Parallel()
	log := append(logOf(change("", "a", "1", 0), change("", "a", "2", 0)), "{\n"...)
	if got := Fold(log, clock); !bytes.Equal(got, log) {
		t.Errorf("got %s, want the log as it is", got)
	}
}

// replay puts a log into jars, at a time.
func replay(t testing.TB, log []byte, now time.Time) map[string]*Jar {
	t.Helper()
	jars := map[string]*Jar{}
	err := ReadChanges(log, func(c *Change) {
		if jars[c.Jar] == nil {
			jars[c.Jar] = &Jar{}
		}
		jars[c.Jar].Set(c.Cookie, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	return jars
}

// contents are the cookies of jars in their order.
func contents(jars map[string]*Jar) map[string][]Cookie {
	all := map[string][]Cookie{}
	for name, j := range jars {
		for _, e := range j.entries() {
			all[name] = append(all[name], e.Cookie)
		}
	}
	return all
}

// checkFold proves that a log and its folded form give the same, whatever
// follows, and that nothing in the latter is too much.
func checkFold(t testing.TB, log, rest []byte) {
	t.Helper()
	folded := Fold(log, clock)
	whole, short := contents(replay(t, log, clock)), contents(replay(t, folded, clock))
	if fmt.Sprint(whole) != fmt.Sprint(short) {
		t.Fatalf("log %s\nfolded %s\ngives %v, want %v", log, folded, short, whole)
	}
	n := 0
	for _, list := range whole {
		n += len(list)
	}
	if got := bytes.Count(folded, []byte("\n")); got != n {
		t.Errorf("%d lines for %d cookies", got, n)
	}
	if again := Fold(folded, clock); !bytes.Equal(again, folded) {
		t.Errorf("folded again: %s, want %s", again, folded)
	}
	direct, steps := Fold(slices.Concat(log, rest), clock), Fold(slices.Concat(folded, rest), clock)
	if !bytes.Equal(direct, steps) {
		t.Errorf("with what follows: %s, want %s", steps, direct)
	}
}

// someChanges makes changes of a few cookies from bytes.
func someChanges(b []byte) []byte {
	var log []byte
	for i := 0; i+2 < len(b); i += 3 {
		c := change([]string{"", "x"}[b[i]&1], string('a'+rune(b[i]>>1&7)), fmt.Sprint(b[i+1]), int64(int8(b[i+2])))
		c.HostOnly, c.Secure = b[i]>>4&1 > 0, b[i]>>5&1 > 0
		c.Domain, c.Path = []string{"a.test", "b.a.test"}[b[i]>>6&1], []string{"/", "/deep"}[b[i]>>7]
		log = c.Append(log)
	}
	return log
}

func TestFoldOfRandomLogs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := make([]byte, rng.IntN(600))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		checkFold(t, someChanges(b), someChanges(b[len(b)/2:]))
	}
}

func FuzzFold(f *testing.F) {
	f.Add([]byte("abcabcabc"), []byte("xyz"))
	f.Fuzz(func(t *testing.T, log, rest []byte) { checkFold(t, someChanges(log), someChanges(rest)) })
}
