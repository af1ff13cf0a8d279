package robots

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestAllowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, robots, agent string
		allowed, refused  []string
	}{
		{
			"RB-01", "User-agent: *\nDisallow: /admin/\nDisallow: /static/\nDisallow: /wiki/K%C3%A4ytt%C3%A4j%C3%A4:\nDisallow: /w/Käyttäjä:\n", "any",
			[]string{"/allowed", "/admin"},
			[]string{"/admin/main", "/static/", "/wiki/K%C3%A4ytt%C3%A4j%C3%A4:", "/wiki/K%c3%a4ytt%c3%a4j%c3%a4:x", "/w/K%C3%A4ytt%C3%A4j%C3%A4:"},
		},
		{"RB-05 a picture", "GIF89a\xd3\xfe\x00\xa2\n\xff", "any", []string{"/"}, nil},
		{"RB-05 empty", "", "any", []string{"/"}, nil},
		{
			"RB-10 first", "User-agent: first\nDisallow: /disallowed/*/end$\nUser-agent: second\nAllow: /*allowed\nDisallow: /", "first",
			[]string{"/disallowed", "/disallowed/xyz/endinglater"},
			[]string{"/disallowed/xyz/end", "/disallowed/x/end/end"},
		},
		{
			"RB-10 second", "User-agent: first\nDisallow: /disallowed/*/end$\nUser-agent: second\nAllow: /*allowed\nDisallow: /", "Second",
			[]string{"/allowed", "/is_still_allowed", "/is_allowed_too"},
			[]string{"/x"},
		},
		{"RB-11", "User-agent: *\nDisallow: /\nAllow: /page", "any", []string{"/page", "/pages"}, []string{"/", "/other"}},
		{
			"RB-13 its own group", "User-agent: *\nDisallow: /admin/\nUser-agent: UnicödeBöt\nDisallow: /some/randome/page.html", "UnicödeBöt",
			[]string{"/admin/"},
			[]string{"/some/randome/page.html"},
		},
		{"RB-13 others", "User-agent: UnicödeBöt\nDisallow: /some/", "Unic", []string{"/some/"}, nil},
		{"RB-14 mark", "\xef\xbb\xbfUser-agent: *\nDisallow: /a", "any", nil, []string{"/a"}},
		{"RB-14 invalid byte", "User-agent: *\n\xffDisallow: /a", "any", nil, []string{"/a"}},
		{"special characters escaped", "User-agent: *\nDisallow: /a%2Ab\nDisallow: /c%24", "any", []string{"/axb", "/c"}, []string{"/a*b", "/a%2Ab", "/c$", "/c%24d"}},
		{"a dollar inside", "User-agent: *\nDisallow: /a$b", "any", []string{"/a"}, []string{"/a$b", "/a%24bc"}},
		{"unreserved", "User-agent: *\nDisallow: /%7Ejoe\nDisallow: /~ann", "any", nil, []string{"/~joe", "/%7ejoe", "/%7Eann"}},
		{"reserved", "User-agent: *\nDisallow: /a%2Fb", "any", []string{"/a/b"}, []string{"/a%2fb"}},
		{"two groups", "User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: a\nDisallow: /3", "a", []string{"/2"}, []string{"/1", "/3"}},
		{"longest over groups", "User-agent: a\nDisallow: /1\nUser-agent: a\nAllow: /1/2\nDisallow: /1/2/3", "a", []string{"/1/2"}, []string{"/1", "/1/2/3"}},
		{"tie", "User-agent: *\nDisallow: /ab\nAllow: /ab", "any", []string{"/ab"}, nil},
		{"own group without rules", "User-agent: *\nDisallow: /\n\nUser-agent: mine", "mine", []string{"/"}, nil},
		{"several names", "User-agent: One, Two ,Three\nDisallow: /1\nUser-agent: *\nDisallow: /2", "two", []string{"/2"}, []string{"/1"}},
		{"a kind of", "User-agent: ex-news\nDisallow: /1\nUser-agent: ex\nDisallow: /2", "Ex-News2", []string{"/2"}, []string{"/1"}},
		{"another kind of", "User-agent: ex-news\nDisallow: /1\nUser-agent: ex\nDisallow: /2", "ex-new", []string{"/1"}, []string{"/2"}},
		{"a longer name", "User-agent: ex-news\nDisallow: /", "ex", []string{"/"}, nil},
		{"no colon", "user agent Harry Potter\ndisallow /1", "harry", []string{"/"}, []string{"/1"}},
		{"no colon, not two words", "User-agent: *\ndisallow /1 /2\nuser-agents a b", "any", []string{"/1"}, nil},
		{"misspelt", "Useg-agent: a\nDesallow: /1", "a", []string{"/"}, []string{"/1"}},
		{"itself", "User-agent: *\nDisallow: /", "any", []string{"/robots.txt"}, []string{"/robots.txt?", "/robots"}},
		{"a whole URL", "User-agent: *\nDisallow: http://a.test/", "any", []string{"/a.test/"}, []string{"/http://a.test/x"}},
		{"UTF-16BE", "\xfe\xff\x00U\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00a", "any", []string{"/"}, []string{"/a"}},
		{"UTF-16LE", "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00a\x00", "any", []string{"/"}, []string{"/a"}},
		{"other records end nothing", "User-agent: a\nCrawl-delay: 3\nSitemap: /s\nUser-agent: b\nDisallow: /", "a", nil, []string{"/x"}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			rules := Parse([]byte(tt.robots)).For(tt.agent)
			for _, path := range tt.allowed {
				if !rules.Allowed(path) {
					t.Errorf("%s is refused", path)
				}
			}
			for _, path := range tt.refused {
				if rules.Allowed(path) {
					t.Errorf("%s is allowed", path)
				}
			}
		})
	}
}

// RB-08 and the choice among several tokens.
func TestTokens(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string][]string{
		"Skein (+https://github.com/skeincrawl/skein)":                             {"Skein"},
		"Mozilla/5.0 (compatible; MyBot/1.0; +https://a.test/bot.html; me@a.test)": {"Mozilla", "compatible", "MyBot"},
		"Examplebot": {"Examplebot"},
		"my-bot_2/3": {"my-bot_2"},
		"(; ) / +":   nil,
		"":           nil,
	} {
		if got := Tokens(agent); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", agent, got, want)
		}
	}
	file := Parse([]byte("User-agent: mozilla\nDisallow: /1\nUser-agent: MyBigBot\nDisallow: /2\nUser-agent: *\nDisallow: /3"))
	if r := file.For("Mozilla", "mybigbot"); r.Allowed("/2") || !r.Allowed("/1") {
		t.Error("the rules are not those of the longest token")
	}
	if r := file.For(); r.Allowed("/3") || !r.Allowed("/1") {
		t.Error("without a token the rules are not those for any crawler")
	}
	if !new(File).For("x").Allowed("/") {
		t.Error("the zero value refuses")
	}
}

// RFC 9309 §2.5: the line at the limit does not count if it is not whole.
func TestMaxSize(t *testing.T) {
	t.Parallel()
	start := "User-agent: *\nDisallow: /first\n"
	body := start + strings.Repeat("#", MaxSize-len(start)-len("\nDisallow: /")) + "\nDisallow: /last\nDisallow: /later"
	r := Parse([]byte(body)).For("x")
	if r.Allowed("/first") || !r.Allowed("/") || !r.Allowed("/last") || !r.Allowed("/later") {
		t.Error("want the first rule and no other")
	}
}

// hostile are files that would cost a careless matcher minutes.
func hostile() map[string][]byte {
	var many bytes.Buffer
	for many.Len() < MaxSize/4 {
		many.WriteString("User-agent: a\nUser-agent: b\nDisallow: /x\n")
	}
	return map[string][]byte{
		"stars":  []byte("User-agent: *\nDisallow: /" + strings.Repeat("*a", MaxSize/2-50) + "b$"),
		"groups": many.Bytes(),
	}
}

func BenchmarkAllowed(b *testing.B) {
	var page bytes.Buffer
	page.WriteString("User-agent: *\n")
	for i := range 50 {
		page.WriteString("Disallow: /dir" + strings.Repeat("x", i) + "/*.php\n")
	}
	path := "/catalogue/" + strings.Repeat("a", 100) + "/page-2.html?x=1"
	files := hostile()
	files["usual"] = page.Bytes()
	for name, body := range files {
		b.Run(name, func(b *testing.B) {
			rules := Parse(body).For("a")
			b.ReportAllocs()
			for b.Loop() {
				rules.Allowed(path)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for name, body := range hostile() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Parse(body)
			}
		})
	}
}

// plain is the matcher of RFC 9309 without any care for time: it tries all
// places for every star.
func plain(pattern, path string, end bool) bool {
	switch {
	case pattern == "":
		return !end || path == ""
	case pattern[0] == '*':
		for i := range len(path) + 1 {
			if plain(pattern[1:], path[i:], end) {
				return true
			}
		}
		return false
	}
	return path != "" && path[0] == pattern[0] && plain(pattern[1:], path[1:], end)
}

func FuzzMatch(f *testing.F) {
	f.Add("/a*b*c$", "/axbxbc")
	f.Add("*", "/")
	f.Add("/a**$", "/a")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		r, ok := newRule(pattern, false)
		if !ok || len(path) > 60 || strings.Count(pattern, "*") > 5 {
			return
		}
		path = canonicalPath(path)
		if got, want := r.matches(path), plain(r.pattern, path, r.end); got != want {
			t.Errorf("%q matches %q = %v, want %v", pattern, path, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a\r\rallow:\n:\n#"), "/a")
	f.Add([]byte("\xef\xbbuser-agent x\ndisallow /%"), "/%4")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		file := Parse(body)
		for name, groups := range file.agents {
			if name == "" || len(groups) == 0 {
				t.Errorf("token %q has %d groups", name, len(groups))
			}
			if file.For(name).Allowed(path) != file.For(strings.ToUpper(name)).Allowed(path) && strings.ToLower(strings.ToUpper(name)) == name {
				t.Errorf("%q: letter case matters", name)
			}
		}
	})
}
