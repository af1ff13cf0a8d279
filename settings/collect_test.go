package settings

import (
	"math"
	"testing"
	"time"
)

// ST-02, ST-03: lists with commas, JSON arrays, empty.
func TestCoerceLists(t *testing.T) {
	t.Parallel()
	s, n := Def{Default: []string{}}, Def{Default: []int{}}
	runCoerce(t, []coerceCase{
		{"commas", s, "one, two,", []string{"one", "two"}, ""},
		{"JSON", s, `["a,b", "c"]`, []string{"a,b", "c"}, ""},
		{"empty", s, "", []string{}, ""},
		{"None", s, "None", []string{}, ""},
		{"array", s, [2]string{"a", "b"}, []string{"a", "b"}, ""},
		{"mixed", s, []any{"a", 1}, []string{"a", "1"}, ""},
		{"broken JSON", s, `["a"`, nil, "want a list such as a,b"},
		{"text behind JSON", s, `["a"] b`, nil, "want a list such as a,b"},
		{"Python", s, "['a']", nil, "want a list such as a,b"},
		{"a map", s, map[string]int{"a": 1}, nil, "want a list such as a,b"},
		{"not UTF-8", s, "a\xff,b", nil, "want a list such as a,b"},
		{"not UTF-8 inside", s, []string{"\xff"}, nil, "want text in UTF-8"},
		{"statuses", n, "500,503", []int{500, 503}, ""},
		{"statuses JSON", n, "[500, 503]", []int{500, 503}, ""},
		{"one status", n, 500, []int{500}, ""},
		{"words", n, "500,many", nil, "want a list of whole numbers"},
		{"fraction", n, []any{1.5}, nil, "want a list of whole numbers"},
		{"checked", Def{Default: []int{}, Check: statuses}, "20", nil, "want HTTP status codes"},
	})
}

func TestCoerceMaps(t *testing.T) {
	t.Parallel()
	d := Def{Default: map[string]any{}}
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	runCoerce(t, []coerceCase{
		{"JSON", d, `{"a.B": {"C": 1, "d": [1.5, null, true]}}`, map[string]any{"a.B": map[string]any{"C": 1, "d": []any{1.5, nil, true}}}, ""},
		{"pairs", d, "a=1, b=x=y,c=None", map[string]any{"a": "1", "b": "x=y", "c": nil}, ""},
		{"numbers as keys", d, map[any]any{404: "x"}, map[string]any{"404": "x"}, ""},
		{"duration inside", d, map[string]any{"a": time.Second}, map[string]any{"a": "1s"}, ""},
		{"whole float is an int", d, map[string]any{"a": 2.0}, map[string]any{"a": 2}, ""},
		{"empty", d, "", map[string]any{}, ""},
		{"None", d, nil, map[string]any{}, ""},
		{"no value", d, "a", nil, "want a JSON object"},
		{"no name", d, "=1", nil, "want a JSON object"},
		{"twice", d, "a=1,a=2", nil, "want a JSON object"},
		{"ST-03 a list", d, []string{"a"}, nil, "want a JSON object"},
		{"broken", d, `{"a"`, nil, "want a JSON object"},
		{"number too large", d, `{"a": 1e999}`, nil, "want a JSON object"},
		{"NaN inside", d, map[string]any{"a": math.NaN()}, nil, "want finite numbers"},
		{"same key twice", d, map[any]any{1: "x", "1": "y"}, nil, "there twice"},
		{"cyclic", d, cyclic, nil, "nested too deeply"},
	})
}

// ST-05: components by name or by Scrapy's class path.
func TestCoerceOrders(t *testing.T) {
	t.Parallel()
	const retry = "scrapy.downloadermiddlewares.retry.RetryMiddleware"
	const ajax = "scrapy.downloadermiddlewares.ajaxcrawl.AjaxCrawlMiddleware"
	d := Def{Default: map[string]int{}, Aliases: downloaderMiddlewares()}
	runCoerce(t, []coerceCase{
		{"JSON", d, `{"retry": 10, "redirect": null}`, map[string]int{"retry": 10, "redirect": Disabled}, ""},
		{"pairs", d, "retry=10,redirect=None", map[string]int{"retry": 10, "redirect": Disabled}, ""},
		{"typed", d, map[string]int{"mine": 1, "retry": Disabled}, map[string]int{"mine": 1, "retry": Disabled}, ""},
		{"class path", d, map[string]any{retry: nil}, map[string]int{"retry": Disabled}, ""},
		{"class path with pairs", d, retry + "=551", map[string]int{"retry": 551}, ""},
		{"absent and disabled", d, map[string]any{ajax: nil}, map[string]int{}, ""},
		{"absent and wanted", d, map[string]any{ajax: 700}, nil, "no component like " + ajax},
		{"twice", d, map[string]any{retry: 1, "retry": 2}, nil, `"retry" is there twice`},
		{"no number", d, "retry=first", nil, "want components and their order"},
		{"fraction", d, map[string]any{"retry": 1.5}, nil, "want components and their order"},
		{"bool", d, map[string]any{"retry": true}, nil, "want components and their order"},
		{"no name", d, map[string]any{" ": 1}, nil, "want components and their order"},
		{"a list", d, []string{"retry"}, nil, "want components and their order"},
		{"empty", d, "", map[string]int{}, ""},
	})
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	d := Def{Default: map[string]any{}, Check: headers}
	runCoerce(t, []coerceCase{
		{"good", d, `{"Accept": "a/b,c/d;q=0.9", "X-A": ["1", "2"], "X-B": null}`, map[string]any{"Accept": "a/b,c/d;q=0.9", "X-A": []any{"1", "2"}, "X-B": nil}, ""},
		{"a value that fell apart", d, "Accept=text/html,text/xml;q=0.9", nil, `"text/xml;q" is no name of a header: want header names and texts as a JSON object`},
		{"a bad name", d, `{"Accept": "x", "A b": "x", "Z": "x"}`, nil, `"A b" is no name of a header: want`},
		{"a line break", d, map[string]any{"A": "x\r\nB: y"}, nil, "the value of A is none of a header: want header names"},
		{"twice", d, `{"Accept": "a", "accept": "b"}`, nil, "the header accept is there twice"},
		{"a number", d, map[string]any{"A": 1}, nil, "want header names"},
		{"a list of numbers", d, map[string]any{"A": []int{1}}, nil, "want header names"},
	})
}
