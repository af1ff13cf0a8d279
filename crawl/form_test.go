package crawl_test

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/skeincrawl/skein/crawl"
)

// TestNewForm covers FM-01.
func TestNewForm(t *testing.T) {
	t.Parallel()
	r := crawl.NewForm("https://example.com/post", url.Values{"price": {"£ 100"}, "one": {"two", "three"}})
	if got, want := string(r.Body), "one=two&one=three&price=%C2%A3+100"; got != want {
		t.Errorf("body %s, want %s", got, want)
	}
	if r.Method != "POST" || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("got %v with %v", r, r.Header)
	}
	if r := crawl.NewForm("https://example.com/post", nil); len(r.Body) != 0 {
		t.Errorf("body %q, want none", r.Body)
	}
}

// TestNewJSON covers JR-01.
func TestNewJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    any
		want string
	}{
		{map[string]any{"b": "<&>", "a": 1}, `{"a":1,"b":"<&>"}`},
		{[]int{}, "[]"},
		{nil, "null"},
	} {
		r, err := crawl.NewJSON("https://example.com/api", tt.v)
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Body) != tt.want || r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Accept") != "application/json, text/javascript, */*; q=0.01" {
			t.Errorf("got %v %v %s, want %s", r, r.Header, r.Body, tt.want)
		}
	}
	if _, err := crawl.NewJSON("https://example.com/api", math.NaN()); err == nil || !strings.Contains(err.Error(), "https://example.com/api") {
		t.Errorf("got %v, want an error that names the request", err)
	}
}

const (
	loginForm = `<form name=search><input name=q></form><form id=login action="/in?old=1#top" method=post><input type=hidden name=token value=t>` +
		`<input name=user><input type=checkbox name=stay checked><input type=radio name=r value=1><input type=radio name=r value=2 checked>` +
		`<select name=lang><option>de<option selected> en  GB </select><textarea name=note>
a</textarea><input name=off value=x disabled><input value=unnamed><input type=reset name=reset value=r>` +
		`<button name=go value=in>In</button><button type=button name=b value=b>B</button><input type=submit name=go value=out formaction=/out formmethod=get></form>`
	tableForm = `<table><form action=/t><tr><td><input name=a value=1></td></form><td><form action=/u><input name=b value=2></form></tr></table><input name=c value=3>`
)

func TestFormFrom(t *testing.T) {
	t.Parallel()
	const all = "token=t&user=&stay=on&r=2&lang=en+GB&note=a"
	for _, tt := range []struct {
		name, page string
		form       crawl.Form
		want, body string
	}{
		{"by id (FM-03)", loginForm, crawl.Form{ID: "login"}, "<POST http://a.com/in?old=1>", all + "&go=in"},
		{"values replace in their places", loginForm, crawl.Form{ID: "login", Values: url.Values{"user": {"me", "you"}, "token": nil, "zoo": {"z"}}}, "<POST http://a.com/in?old=1>", "user=me&user=you&stay=on&r=2&lang=en+GB&note=a&go=in&zoo=z"},
		{"no button (FM-04)", loginForm, crawl.Form{ID: "login", NoClick: true}, "<POST http://a.com/in?old=1>", all},
		{"button by number with its own address", loginForm, crawl.Form{ID: "login", Button: 1}, "<GET http://a.com/out?" + all + "&go=out>", ""},
		{"button by attribute", loginForm, crawl.Form{ID: "login", Click: map[string]string{"value": "in"}}, "<POST http://a.com/in?old=1>", all + "&go=in"},
		{"by CSS inside of it (FM-08)", loginForm, crawl.Form{CSS: "[name=token]", NoClick: true}, "<POST http://a.com/in?old=1>", all},
		{"by XPath", loginForm, crawl.Form{XPath: "//form[@id='login']", NoClick: true}, "<POST http://a.com/in?old=1>", all},
		{"by number", loginForm, crawl.Form{Number: 1, NoClick: true}, "<POST http://a.com/in?old=1>", all},
		{"a GET replaces the query (FM-02)", `<form action="/s?a=0&b=1#f"><input name=q value="x y">`, crawl.Form{}, "<GET http://a.com/s?q=x+y>", ""},
		{"a GET of nothing", `<form action="/s?a=0">`, crawl.Form{}, "<GET http://a.com/s>", ""},
		{"no action is the page in spite of base", `<base href=http://b.com/><form method=post>`, crawl.Form{}, "<POST http://a.com/dir/page?p=1>", ""},
		{"base (FM-10)", `<base href=" http://b.com/"><form action=" path` + "\n" + `">`, crawl.Form{}, "<GET http://b.com/path>", ""},
		{"an unknown method", `<form method=dialog>`, crawl.Form{}, "<GET http://a.com/dir/page>", ""},
		{"method and address replaced", `<form>`, crawl.Form{Method: "put", URL: "/x"}, "<PUT http://a.com/x>", ""},
		{"a form between cells", tableForm, crawl.Form{}, "<GET http://a.com/t?a=1>", ""},
		{"controls that name their form", `<form id=f><input name=a></form><input form=f name=b><form><input form=f name=c><input name=d></form>`, crawl.Form{}, "<GET http://a.com/dir/page?a=&b=&c=>", ""},
		{"disabled", `<form><fieldset disabled><legend><input name=a></legend><input name=b></fieldset><select name=s><option disabled selected>?</select><select name=t><option disabled>?<option>1</select></form>`, crawl.Form{}, "<GET http://a.com/dir/page?a=&t=1>", ""},
		{"several selected (FM-05)", `<form><select multiple name=s><option selected value=1><option><option selected>2</select><select name=e></select></form>`, crawl.Form{}, "<GET http://a.com/dir/page?s=1&s=2>", ""},
		{"an image that is clicked (FM-07)", `<form><input type=image name=i value=v><input name=n></form>`, crawl.Form{}, "<GET http://a.com/dir/page?i=v&n=>", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := crawl.FormFrom(htmlPage("http://a.com/dir/page?p=1", tt.page), tt.form)
			if err != nil {
				t.Fatal(err)
			}
			if r.String() != tt.want || string(r.Body) != tt.body {
				t.Errorf("got %v %s, want %s %s", r, r.Body, tt.want, tt.body)
			}
		})
	}
}

// TestFormEncoding holds that a form is sent in the encoding of its page.
func TestFormEncoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ charset, form, want string }{
		{"utf-8", "<form>", "n=%C2%A3+%E2%98%83"},
		{"iso-8859-1", "<form>", "n=%A3+%26%239731%3B"},
		{"iso-8859-1", "<form accept-charset='nonsense UTF-8 latin1'>", "n=%C2%A3+%E2%98%83"},
		{"utf-16le", "<form>", "n=%C2%A3+%E2%98%83"},
	} {
		page := htmlPage("http://a.com/", tt.form)
		if tt.charset == "utf-16le" {
			page.Body = []byte(strings.Join(append(strings.Split(tt.form, ""), ""), "\x00"))
		}
		page.Header.Set("Content-Type", "text/html; charset="+tt.charset)
		r, err := crawl.FormFrom(page, crawl.Form{Values: url.Values{"n": {"£ ☃"}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(r.URL, "?"); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.charset, tt.form, got, tt.want)
		}
	}
}

func TestFormFromFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		page string
		form crawl.Form
		want string
	}{
		{"<p>", crawl.Form{}, "there is none"}, // FM-09
		{loginForm, crawl.Form{Number: 2}, "none of number 2, there are 2"},
		{loginForm, crawl.Form{ID: "x", Number: -1}, "none of number -1"},
		{loginForm, crawl.Form{CSS: "html"}, `none at "html"`},
		{loginForm, crawl.Form{CSS: "["}, "invalid CSS selector"},
		{loginForm, crawl.Form{XPath: "["}, "invalid XPath expression"},
		{loginForm, crawl.Form{CSS: "a", XPath: "b"}, "exclude each other"},
		{loginForm, crawl.Form{ID: "login", Click: map[string]string{"name": "go"}}, "2 buttons have the attributes map[name:go]"},
		{loginForm, crawl.Form{ID: "login", Click: map[string]string{"name": "b"}}, "0 buttons"},
		{loginForm, crawl.Form{ID: "login", Button: 2}, "no button of number 2, there are 2"},
		{loginForm, crawl.Form{ID: "login", Button: 1, NoClick: true}, "only one of Click, Button and NoClick"},
		{"<form action='javascript:x()'>", crawl.Form{}, "none of the web"},
		{"<form action='http://[/'>", crawl.Form{}, "http://[/"},
	} {
		_, err := crawl.FormFrom(htmlPage("http://a.com/", tt.page), tt.form)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "form of <200 http://a.com/>") {
			t.Errorf("%+v: got %v, want %q", tt.form, err, tt.want)
		}
	}
}

// FuzzFormFrom holds that a form of any page is sent with what the caller says,
// and that the page is left as it is.
func FuzzFormFrom(f *testing.F) {
	f.Add(loginForm, "user", "me")
	f.Add(tableForm, "a", "")
	f.Add("<form><select><option><optgroup disabled><option selected></form>", "", "x")
	f.Fuzz(func(t *testing.T, page, name, value string) {
		if strings.Contains(strings.ToLower(page), "accept-charset") {
			return // the values arrive in another encoding
		}
		r := htmlPage("http://a.com/", page)
		r.Header.Set("Content-Type", "text/html; charset=utf-8")
		before := r.CSS("html").Get()
		got, err := crawl.FormFrom(r, crawl.Form{Values: url.Values{name: {value}}, Method: "POST", URL: "/x"})
		if err != nil {
			return
		}
		sent, err := url.ParseQuery(string(got.Body))
		if err != nil || !slices.Equal(sent[name], []string{value}) {
			t.Errorf("sent %q, %v, want %q: %q among %v", got.Body, err, name, value, slices.Collect(maps.Keys(sent)))
		}
		if after := r.CSS("html").Get(); after != before {
			t.Errorf("the page was changed from %q to %q", before, after)
		}
	})
}
