package crawl_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// byKind sets a field to some value that is not its zero value. Texts hold bytes
// that are not UTF-8 where raw says so.
func byKind(t *testing.T, f reflect.Value, raw bool) {
	t.Helper()
	switch v := f.Addr().Interface().(type) {
	case *time.Time:
		*v = time.Unix(1_700_000_000, 0)
	case *http.Header:
		*v = http.Header{"A": {"1"}, "None": {}, "Nil": nil}
	case *[]byte:
		*v = []byte{0xff}
	case *[]int:
		*v = []int{404}
	case *[]string:
		*v = []string{"x\xff"}
	case *[]*http.Cookie:
		*v = []*http.Cookie{{Name: "n"}}
	case *[]crawl.Hop:
		*v = []crawl.Hop{{URL: "u", Status: 301}}
	case *map[string]any:
		*v = map[string]any{"k": []any{1}}
	default:
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(2)
		case reflect.String:
			f.SetString(map[bool]string{false: "text", true: "\x00\xff"}[raw])
		default:
			t.Fatalf("the test knows no value for a %v", f.Type())
		}
	}
}

// each calls check for every field of the struct that at returns of a request,
// with a request in which that field alone is set. So a field that somebody adds
// can not be forgotten.
func each(t *testing.T, at func(*crawl.Request) reflect.Value, raw bool, skip map[string]bool) {
	t.Helper()
	c := crawl.NewCallbacks(newShop(1))
	typ := at(&crawl.Request{}).Type()
	for i := range typ.NumField() {
		if name := typ.Field(i).Name; !skip[name] {
			r := &crawl.Request{URL: "u"}
			byKind(t, at(r).Field(i), raw)
			if got := store(t, c, r); !reflect.DeepEqual(got, r) {
				t.Errorf("%v.%s alone came back as %+v, want %+v", typ, name, at(got), at(r))
			}
		}
	}
}

// SER-04 for each field of a request on its own.
func TestRoundTripOfEachField(t *testing.T) {
	t.Parallel()
	request := func(r *crawl.Request) reflect.Value { return reflect.ValueOf(r).Elem() }
	each(t, request, false, map[string]bool{
		"Callback": true, "Errback": true, "Args": true, // of TestCallbackNames and TestArgsOf
		"Options": true, "Trail": true, // below
	})
	each(t, func(r *crawl.Request) reflect.Value { return reflect.ValueOf(&r.Trail).Elem() }, false, nil)
	for _, raw := range []bool{false, true} {
		each(t, func(r *crawl.Request) reflect.Value { return reflect.ValueOf(&r.Options).Elem() }, raw, nil)
		each(t, func(r *crawl.Request) reflect.Value {
			r.Cookies = []*http.Cookie{{}}
			return reflect.ValueOf(r.Cookies[0]).Elem()
		}, raw, nil)
		each(t, func(r *crawl.Request) reflect.Value { return reflect.ValueOf(r).Elem() }, raw, map[string]bool{
			"Callback": true, "Errback": true, "Args": true, "Options": true, "Trail": true,
			"URL": true, "Method": true, // they go on the wire as ASCII, or not at all
		})
	}
}

// SER-04: the body, its bytes as they are whatever the page's encoding, and
// cookies with text beyond ASCII. What is empty is not nothing.
func TestRoundTripOfEmptyValues(t *testing.T) {
	t.Parallel()
	c := crawl.NewCallbacks(newShop(1))
	for what, r := range map[string]*crawl.Request{
		"an empty body":             {URL: "u", Method: "POST", Body: []byte{}},
		"no body":                   {URL: "u", Method: "POST"},
		"an empty header":           {URL: "u", Header: http.Header{}},
		"empty and missing values":  {URL: "u", Header: http.Header{"A": {}, "B": nil, "C": {""}}},
		"a cookie beyond ASCII":     {URL: "u", Cookies: []*http.Cookie{{Name: "currency", Value: "руб"}}},
		"a jar that is not UTF-8":   {URL: "u", Jar: "\xff"},
		"a value that begins so":    {URL: "u", Options: crawl.Options{HTTPPass: "\x00"}},
		"a password in Latin-1":     {URL: "u", Options: crawl.Options{HTTPUser: "jos\xe9", HTTPPass: "\xa3"}},
		"a body in Latin-1":         {URL: "u", Body: []byte("price=\xa3")},
		"an expiry of long ago":     {URL: "u", Cookies: []*http.Cookie{{Name: "n", Expires: time.Unix(-1, 0)}}},
		"an expiry of another time": {URL: "u", Cookies: []*http.Cookie{{Name: "n", Expires: time.Unix(1<<40, 0)}}},
	} {
		if got := store(t, c, r); !reflect.DeepEqual(got, r) {
			t.Errorf("%s: got %+v, want %+v", what, got, r)
		}
	}
}
