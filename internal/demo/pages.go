package demo

import (
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
)

// page is what the templates of the site are filled with.
type page struct {
	Title, User, Next, Previous, Token, Message string

	Quotes []Quote
	Author *Author
}

const layout = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{{.Title}}</title></head>
<body>
<p class="session">{{if .User}}<span class="user">{{.User}}</span> <a href="/logout">Logout</a>{{else}}<a href="/login">Login</a>{{end}}</p>
<h1>{{.Title}}</h1>
{{with .Message}}<p class="message">{{.}}</p>
{{end}}{{range .Quotes}}<div class="quote">
  <span class="text">{{.Text}}</span>
  <span>by <small class="author">{{.Author.Name}}</small> <a class="about" href="{{.Author.Path}}">(about)</a></span>
  <div class="tags">{{range .Tags}}<a class="tag">{{.}}</a> {{end}}</div>
</div>
{{end}}{{with .Author}}<div class="author-details">
  <h2 class="author-title">{{.Name}}</h2>
  <p>Born: <span class="author-born-date">{{.Born}}</span> in <span class="author-born-location">{{.Place}}</span></p>
  <div class="author-description">{{.Bio}}</div>
</div>
{{end}}{{with .Token}}<form action="/login" method="post">
  <input type="hidden" name="csrf_token" value="{{.}}">
  <input type="text" name="username"> <input type="password" name="password">
  <input type="submit" value="Login">
</form>
{{end}}<ul class="pager">
{{with .Previous}}  <li class="previous"><a href="{{.}}">Previous</a></li>
{{end}}{{with .Next}}  <li class="next"><a href="{{.}}">Next</a></li>
{{end}}</ul>
<p class="corner">Try a crawler on: <a href="/slow">a slow page</a>, <a href="/fail">a page that fails</a>, <a href="/account">an account</a></p>
</body>
</html>
`

// write answers with a page.
func (s *Site) write(w http.ResponseWriter, r *http.Request, p page) {
	p.User = s.user(r)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = s.layout.Execute(w, p) // a client that went away is its own business
}

func parseLayout() *template.Template { return template.Must(template.New("page").Parse(layout)) }

func (s *Site) serveQuotes(w http.ResponseWriter, r *http.Request, n int) {
	p := page{Title: fmt.Sprintf("Quotes, page %d of %d", n, Pages), Quotes: PageOf(n)}
	if n > 1 {
		p.Previous = pagePath(n - 1)
	}
	if n < Pages {
		p.Next = pagePath(n + 1)
	}
	s.write(w, r, p)
}

func (s *Site) serveAuthor(w http.ResponseWriter, r *http.Request) {
	for _, a := range Authors() {
		if a.Path() == r.URL.Path {
			s.write(w, r, page{Title: a.Name, Author: &a})
			return
		}
	}
	http.NotFound(w, r)
}

func serveRobots(w http.ResponseWriter, r *http.Request) {
	send(w, "User-agent: *\nDisallow: /private/\nSitemap: "+origin(r)+"/sitemap.xml\n")
}

// serveSitemap lists every page of quotes and every author.
func serveSitemap(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/xml")
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for n := range Pages {
		fmt.Fprintf(&b, "<url><loc>%s%s</loc></url>\n", origin(r), pagePath(n+1))
	}
	for _, a := range Authors() {
		fmt.Fprintf(&b, "<url><loc>%s%s</loc></url>\n", origin(r), a.Path())
	}
	send(w, b.String()+"</urlset>\n")
}

// send answers with a text. A client that went away is its own business.
func send(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

func origin(r *http.Request) string { return "http://" + template.HTMLEscapeString(r.Host) }
