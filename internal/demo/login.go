package demo

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

const (
	tokenCookie   = "csrf"
	sessionCookie = "session"
	maxForm       = 64 << 10 // bytes
)

// sign makes the value of a session cookie. The site keeps no sessions: a name
// that carries its signature is one.
func (s *Site) sign(user string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(user))
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(user)) + "." + enc.EncodeToString(mac.Sum(nil))
}

// user returns who is logged in, or "".
func (s *Site) user(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(c.Value, ".")
	user, err := base64.RawURLEncoding.DecodeString(name)
	if err != nil || !hmac.Equal([]byte(s.sign(string(user))), []byte(c.Value)) {
		return ""
	}
	return string(user)
}

func setCookie(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (s *Site) serveLogin(w http.ResponseWriter, r *http.Request) {
	token := rand.Text()
	setCookie(w, tokenCookie, token, 0)
	s.write(w, r, page{Title: "Login", Token: token, Message: "Any name and any password will do."})
}

// login starts a session if the form is the one that this client was shown.
func (s *Site) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	token, err := r.Cookie(tokenCookie)
	user := r.PostFormValue("username")
	switch {
	case err != nil || !hmac.Equal([]byte(token.Value), []byte(r.PostFormValue("csrf_token"))):
		http.Error(w, "this is not the form of this site", http.StatusForbidden)
	case user == "" || r.PostFormValue("password") == "":
		w.WriteHeader(http.StatusUnauthorized)
		s.write(w, r, page{Title: "Login", Token: token.Value, Message: "A name and a password are needed."})
	default:
		setCookie(w, sessionCookie, s.sign(user), 0)
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	}
}

func (s *Site) logout(w http.ResponseWriter, r *http.Request) {
	setCookie(w, sessionCookie, "", -1)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// serveAccount shows a page to those who are logged in and sends the others to
// the login.
func (s *Site) serveAccount(w http.ResponseWriter, r *http.Request) {
	user := s.user(r)
	if user == "" {
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	}
	s.write(w, r, page{Title: "Account of " + user, Message: "Only you can read this, " + user + "."})
}
