package cookie

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// set parses a header that a page sends and puts the cookie into the jar.
func set(t testing.TB, j *Jar, u, header string, now time.Time) bool {
	t.Helper()
	c, ok := Parse(header, page(t, u), now)
	if !ok {
		t.Fatalf("%q at %s is refused", header, u)
	}
	return j.Set(c, now)
}

func sent(t testing.TB, j *Jar, u string, now time.Time) string {
	t.Helper()
	var all []string
	for _, p := range j.For(page(t, u), now) {
		all = append(all, p.Name+"="+p.Value)
	}
	return strings.Join(all, "; ")
}

func TestJar(t *testing.T) {
	t.Parallel()
	var j Jar
	set(t, &j, "http://www.example.com:1104/", "h=1", clock)
	set(t, &j, "http://www.example.com/", "d=1; Domain=example.com", clock)
	set(t, &j, "http://www.example.com/", "s=1; Secure", clock)
	set(t, &j, "http://www.example.com/", "p=1; Path=/deep", clock)
	set(t, &j, "http://www.example.com/", "t=1; Max-Age=60", clock)
	set(t, &j, "http://9.2.3.4/", "ip=1", clock)
	for _, tt := range []struct{ id, url, want string }{
		{"CK-09, scrapy#351", "http://www.example.com:4443/", "h=1; d=1; t=1"},
		{"RFC 6265 §5.4", "http://www.example.com/deep/er", "p=1; h=1; d=1; t=1"},
		{"no path below", "http://www.example.com/deeper", "h=1; d=1; t=1"},
		{"secure", "https://www.example.com/", "h=1; d=1; s=1; t=1"},
		{"sub-domain", "http://other.example.com/", "d=1"},
		{"above", "http://example.com/", "d=1"},
		{"below", "http://x.www.example.com/", "d=1"},
		{"another", "http://example.org/", ""},
		{"stormcrawler#2075", "http://a.test/", ""},
		{"addresses match whole", "http://2.3.4/", ""},
		{"address", "http://9.2.3.4/x", "ip=1"},
	} {
		if got := sent(t, &j, tt.url, clock); got != tt.want {
			t.Errorf("%s: sent to %s: %q, want %q", tt.id, tt.url, got, tt.want)
		}
	}
	if got, want := sent(t, &j, "http://www.example.com/", clock.Add(time.Minute)), "h=1; d=1"; got != want {
		t.Errorf("a minute later: %q, want %q", got, want)
	}
}

func TestJarReplacesAndDeletes(t *testing.T) {
	t.Parallel()
	var j Jar
	const u = "http://a.test/"
	steps := []struct {
		header string
		noted  bool
		want   string
	}{
		{"a=1; Max-Age=0", false, ""}, // nothing to delete
		{"a=1", true, "a=1"},
		{"b=1", true, "a=1; b=1"},
		{"a=1", false, "a=1; b=1"},
		{"a=2", true, "a=2; b=1"}, // it keeps its place
		{"a=2; Max-Age=800", true, "a=2; b=1"},
		{"a=2; Max-Age=850", false, "a=2; b=1"}, // lives on a little longer
		{"a=2; Max-Age=1000", true, "a=2; b=1"},
		{"a=2; Secure; Max-Age=1000", true, "b=1"},
		{"b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", true, ""},
	}
	for _, s := range steps {
		if noted := set(t, &j, u, s.header, clock); noted != s.noted {
			t.Errorf("%q: worth noting = %v, want %v", s.header, noted, s.noted)
		}
		if got := sent(t, &j, u, clock); got != s.want {
			t.Errorf("after %q: %q, want %q", s.header, got, s.want)
		}
	}
}

// What has expired does not stay in memory, and one domain does not fill it.
func TestJarIsBounded(t *testing.T) {
	t.Parallel()
	var j Jar
	for i := range 10_000 {
		set(t, &j, fmt.Sprintf("http://h%d.test/", i), "a=1; Max-Age=1", clock.Add(time.Duration(i)*time.Second))
	}
	if len(j.domains) > 2100 {
		t.Errorf("%d domains, nearly all expired", len(j.domains))
	}
	j = Jar{}
	for i := range maxPerDomain + 5 {
		set(t, &j, "http://a.test/", fmt.Sprintf("n%d=1", i), clock)
	}
	got := j.For(page(t, "http://a.test/"), clock)
	if len(got) != maxPerDomain || got[0].Name != "n5" {
		t.Errorf("%d cookies, first %v, want %d from n5 on", len(got), got[0], maxPerDomain)
	}
}

func TestJarConcurrently(t *testing.T) {
	t.Parallel()
	var j Jar
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				u := fmt.Sprintf("http://h%d.test/", i%20)
				set(t, &j, u, fmt.Sprintf("g%d=%d", g, i), clock)
				sent(t, &j, u, clock)
			}
		})
	}
	wg.Wait()
	if got := len(j.For(page(t, "http://h3.test/"), clock)); got != 4 {
		t.Errorf("%d cookies, want one of each goroutine", got)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	all := []Change{
		{Jar: "x", Cookie: Cookie{Name: "a", Value: "<b>\"", Domain: "a.test", HostOnly: true, Path: "/", Expires: Session}},
		{Cookie: Cookie{Name: "n\xff", Value: "v=\xe1", Domain: "a.test", Path: "/p", Secure: true, HTTPOnly: true, Expires: 0}},
	}
	var b []byte
	for i := range all {
		b = all[i].Append(b)
	}
	first := `{"jar":"x","name":"a","value":"\u003cb\u003e\"","domain":"a.test","host_only":true,"path":"/"}` + "\n"
	if !strings.HasPrefix(string(b), first) {
		t.Errorf("stored as %s, want %s", b, first)
	}
	var got []Change
	if err := ReadChanges(append([]byte("\n"), b...), func(c *Change) { got = append(got, *c) }); err != nil || len(got) != 2 || got[0] != all[0] || got[1] != all[1] {
		t.Errorf("got %+v, %v, want %+v", got, err, all)
	}
	for _, bad := range []string{"{", `{"name":1}`, `{"name":"a","path":"/"}`, `{"name":"","domain":"a","path":"/"}`, `{"name":"a","domain":"a"}`} {
		err := ReadChanges(append(b, bad...), func(*Change) {})
		if err == nil || !strings.HasPrefix(err.Error(), "cookie change 3: ") {
			t.Errorf("%s: error %v, want the third line named", bad, err)
		}
	}
}

// scrapy#20: with many hosts in the jar, one that has nothing costs nothing.
func BenchmarkJarFor(b *testing.B) {
	var j Jar
	for i := range 100_000 {
		set(b, &j, fmt.Sprintf("http://www.host%d.example/", i), "session=0123456789abcdef; Path=/", clock)
	}
	for name, u := range map[string]string{
		"none": "http://www.unknown.example.com/page?x=1", "one": "http://www.host500.example/page?x=1",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, _ := PageOf(u)
				j.For(p, clock)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	from := page(b, "https://www.example.com/")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Parse("session=0123456789abcdef; Expires=Tue, 05 Jul 2033 10:00:00 GMT; Domain=example.com; Path=/; Secure; HttpOnly", from, clock); !ok {
			b.Fatal("refused")
		}
	}
}
