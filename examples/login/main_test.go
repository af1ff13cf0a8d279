package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/engine"
	"github.com/skeincrawl/skein/feeds"
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shop is a site with two pages of orders for those who are signed in.
func shop(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<form><input name=q></form><form id=login action=/session method=post><input type=hidden name=token value=t17>`+
			`<input name=user><input name=password type=password><button>Sign in</button></form>`)
	})
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("token") != "t17" || r.FormValue("user") != "me" || r.FormValue("password") != "p&q" {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s1"})
		http.Redirect(w, r, "/orders?page=1", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("session"); err != nil || c.Value != "s1" {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		page := r.FormValue("page")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<table class="big orders"><tr><th>No<th>Total<tr><td>%s1<td>EUR 9.50</table>`, page)
		if page == "1" {
			fmt.Fprint(w, `<a rel=next href="?page=2">more</a>`)
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// run runs the spider and returns the reason of its end and what it wrote.
func run(t *testing.T, args map[string]string) (reason, feed string) {
	t.Helper()
	spec, err := crawl.FindSpec("login")
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := settings.New().Build()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "orders.jsonl")
	target, err := feeds.ParseTarget(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Options{Spec: spec, Args: args, Settings: s, Feeds: []feeds.Target{target}, Log: zerolog.New(zerolog.NewTestWriter(t))})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return res.Reason, string(b)
}

func TestOrders(t *testing.T) {
	reason, feed := run(t, map[string]string{"site": shop(t), "user": "me", "password": "p&q"})
	want := `{"number":"11","total":"9.50"}` + "\n" + `{"number":"21","total":"9.50"}` + "\n"
	if reason != "finished" || feed != want {
		t.Errorf("%s with %q, want finished with %q", reason, feed, want)
	}
}

func TestWrongPassword(t *testing.T) {
	if reason, feed := run(t, map[string]string{"site": shop(t), "user": "me", "password": "?"}); reason != "login_failed" || feed != "" {
		t.Errorf("%s with %q, want login_failed without items", reason, feed)
	}
}
