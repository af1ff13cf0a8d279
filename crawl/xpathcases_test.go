package crawl_test

import (
	"slices"
	"strings"
	"testing"
)

const axesPage = `<div id=z></div><div id=a><p id=p1>1</p><div id=b><p id=p2>2</p><p id=p3>3</p><div id=c></div></div><p id=p4>4</p></div>` +
	`<ul><li id=l1>a<li id=l2 class=x>b<li id=l3>c<ul><li id=l4>d</ul></ul><table><tr><td id=t1>1<td id=t2>2<tr><td id=t3>3<td id=t4>4</table>`

// TestXPathAxes holds that steps, positions and comparisons are those of XPath
// 1.0. All expressions give attributes.
func TestXPathAxes(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", axesPage)
	for expr, want := range map[string]string{
		"//div[@id='c']//div/@id":                                           "",
		"//div//div/@id":                                                    "b c",
		"//div[@id='b']/descendant-or-self::div/@id":                        "b c",
		"descendant-or-self::p/@id":                                         "p1 p2 p3 p4",
		"//li[1]/@id":                                                       "l1 l4",
		"/descendant::li[1]/@id":                                            "l1",
		"//li[position() < 3]/@id":                                          "l1 l2 l4",
		"(//li)[last()]/@id":                                                "l4",
		"(//li)[position() > 2]/@id":                                        "l3 l4",
		"//tr/td[last()]/@id":                                               "t2 t4",
		"//li[@id='l1']/following-sibling::*[position() <= 2]/@id":          "l2 l3",
		"//li[3]/preceding-sibling::li[1]/@id":                              "l2",
		"//p[@id='p2']/preceding::*[1]/@id":                                 "p1",
		"//p[@id='p4']/preceding::*[@id][position() < 4]/@id":               "p2 p3 c",
		"//p[@id='p4']/preceding::*/@id":                                    "z p1 b p2 p3 c",
		"//p[@id='p2']/following::*[@id][3]/@id":                            "p4",
		"//p[@id='p3']/ancestor::div[1]/@id":                                "b",
		"//p[@id='p3']/ancestor::*[2]/@id":                                  "a",
		"//p/ancestor-or-self::*[@id][1]/@id":                               "p1 p2 p3 p4",
		"//*[starts-with(@id, 'p')][2]/@id":                                 "p3 p4",
		"//*[local-name() = 'p'][3]/@id":                                    "",
		"//*[@id = 'a']/descendant::*[last()]/@id":                          "p4",
		"//div[p and not(@id = 'b')]/@id":                                   "a",
		"//div[count(p) > 1 and div]/@id":                                   "a b",
		"//div[.//p = 3]/@id":                                               "a b",
		"//div[p != 1]/@id":                                                 "a b",
		"//td[. > 2 and . <= 3]/@id":                                        "t3",
		"//td[../td[2] = '4']/@id":                                          "t3 t4",
		"//td[position() = count(../td)]/@id":                               "t2 t4",
		"//td[count(../preceding-sibling::tr) = 1]/@id":                     "t3 t4",
		"//td[2][. = '4']/@id":                                              "t4",
		"//td[. = '4'][2]/@id":                                              "",
		"//td[. mod 2 = 0]/@id":                                             "t2 t4",
		"//p[not(position() = 1)]/@id":                                      "p3 p4",
		"//*[@* = 'x']/@id":                                                 "l2",
		"//li/@id[. = 'l2']":                                                "l2",
		"//@id[. = 'l2']/../following-sibling::li/@id":                      "l3",
		"//@class/parent::li/@id | //@class/ancestor::li/@id":               "l2",
		"//@id[starts-with(., 't')]":                                        "t1 t2 t3 t4",
		"//*[self::p or self::td][. = //li[1] or . = 4]/@id":                "p4 t4",
		"//li[normalize-space(text()) = 'b']/@id":                           "l2",
		"set:difference(//p, //div[@id='b']/p)/@id":                         "p1 p4",
		"set:intersection(//p, //div[@id='b']/*)/@id":                       "p2 p3",
		"set:distinct(//p | //td)/@id":                                      "p1 p2 p3 p4",
		"set:leading(//p, //p[. = 3])/@id":                                  "p1 p2",
		"set:trailing(//p, //p[. = 3])/@id":                                 "p4",
		"//div[set:has-same-node(p, //p[3])]/@id":                           "",
		"//processing-instruction('x') | //p[. = -(-1)]/@id":                "p1",
		"//*[@id and contains(concat(' ', @class, ' '), ' x ')][1 - 0]/@id": "l2",
	} {
		if got := strings.Join(r.XPath(expr).All(), " "); got != want {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
	if err := r.SelectorErr(); err != nil {
		t.Error(err)
	}
}

// TestXPathFunctions holds values of XPath 1.0, sections 3 and 4.
func TestXPathFunctions(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://example.com/", `<p lang=en-GB> a  b<b>c</b></p><i>3</i><i>x</i>`)
	for expr, want := range map[string]string{
		"string(//p)": " a  bc", "normalize-space(//p)": "a bc", "string-length(//p)": "6", "string()": " a  bc3x",
		"name(//b)": "b", "name(//b/..)": "p", "name(//@*)": "lang", "local-name(//none)": "", "namespace-uri(//p)": "",
		"concat('a', 1, true(), //b)": "a1truec", "contains(//p, 'b')": "1", "starts-with('ab', '')": "1", "contains(//none, 'x')": "0",
		"substring-before('1999/04', '/')": "1999", "substring-after('1999/04', '/')": "04", "substring-before('a', 'b')": "", "substring-after('a', 'b')": "",
		"substring('12345', 2, 3)": "234", "substring('12345', 2)": "2345", "substring('12345', 1.5, 2.6)": "234",
		"substring('12345', 0 div 0, 3)": "", "substring('12345', 1, 0 div 0)": "", "substring('12345', -42, 1 div 0)": "12345", "substring('äöü', 2, 1)": "ö",
		"translate('bar', 'abc', 'AB')": "BAr", "translate('--aaa--', 'abc-', 'ABC')": "AAA",
		"boolean('false')": "1", "boolean('')": "0", "boolean(0 div 0)": "0", "not(//p)": "0", "false() or 1": "1", "'a' and ''": "0",
		"number(' -12.5 ')": "-12.5", "number('1e3')": "NaN", "number('')": "NaN", "number(true())": "1", "number(//i)": "3", "number('.5') + 1.": "1.5",
		"sum(//i)": "NaN", "sum(//i[1])": "3", "count(//i | //b)": "3",
		"floor(-1.5)": "-2", "ceiling(-1.5)": "-1", "round(-1.5)": "-1", "round(2.5)": "3", "round(0 div 0)": "NaN",
		"5 mod 2": "1", "-5 mod 2": "-1", "1.5 mod 0.5": "0", "1 div 0": "Infinity", "-1 div 0": "-Infinity", "-0": "0", "2 * 3 - 4 div 2": "4", "--2": "2",
		"1 < 2 = true()": "1", "3 > 2 > 1": "0", "'2' < '10'": "1", "'a' = 'a'": "1", "//i = 'x'": "1", "//i != 'x'": "1", "//i > 2": "1", "//none = ''": "0",
		"//none = false()": "1", "//i = //b": "0", "//i = true()": "1", "1000000000000000000000": "1000000000000000000000",
		"//p[lang('en')] and not(//b[lang('de')])": "1", "boolean(//i[lang('en')])": "0", "boolean(//@*[lang('EN-gb')])": "1",
		"re:replace('a1b2', '([a-z])(\\d)', 'g', '\\2\\1$')": "1a$2b$", "re:replace('aXax', 'x', 'i', '-')": "a-ax", "re:test('Ab', '^a')": "0",
	} {
		if got := r.XPath(expr).Get(); got != want {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
	if err := r.SelectorErr(); err != nil {
		t.Error(err)
	}
}

// TestXPathNames holds that what looks like an operator can be a name.
func TestXPathNames(t *testing.T) {
	t.Parallel()
	r := xmlPage("text/xml", "<div><div>1</div><mod>2</mod><and><or>3</or></and><a-b.c>4</a-b.c><été>5</été><text>6</text></div>")
	for expr, want := range map[string][]string{
		"div/text()": {"1"}, "div div mod": {"0.5"}, "mod mod div": {"0"}, "and/or/text()": {"3"}, "div and and": {"1"},
		"mod * mod": {"4"}, "* * 2": {"2"}, "a-b.c - 1": {"3"}, "été/text()": {"5"}, "child :: text/text ( )": {"6"}, "/ div / mod/text()": {"2"},
	} {
		if got := r.XPath(expr).All(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", expr, got, r.SelectorErr(), want)
		}
	}
}
