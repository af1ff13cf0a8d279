package cookie

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Change is a cookie that was set, or deleted by one that has expired already.
// Its stored form is a line of JSON with the members jar, name, value, domain,
// host_only, path, secure, http_only and expires (Unix seconds, absent for a
// session's cookie); false and "" are left out. In place of a name and a value
// that are not UTF-8 there is raw: name=value in base64; so is raw_jar for jar.
type Change struct {
	Jar string
	Cookie
}

// line is the stored form.
type line struct {
	Jar      string `json:"jar,omitempty"`
	RawJar   []byte `json:"raw_jar,omitempty"`
	Name     string `json:"name,omitempty"`
	Value    string `json:"value,omitempty"`
	Raw      []byte `json:"raw,omitempty"`
	Domain   string `json:"domain"`
	HostOnly bool   `json:"host_only,omitempty"`
	Path     string `json:"path"`
	Secure   bool   `json:"secure,omitempty"`
	HTTPOnly bool   `json:"http_only,omitempty"`
	Expires  *int64 `json:"expires,omitempty"`
}

// Append appends the stored form, with the end of its line.
func (c *Change) Append(dst []byte) []byte {
	l := line{
		Jar: c.Jar, Name: c.Name, Value: c.Value, Domain: c.Domain, HostOnly: c.HostOnly, Path: c.Path,
		Secure: c.Secure, HTTPOnly: c.HTTPOnly,
	}
	if c.Expires != Session {
		l.Expires = &c.Expires
	}
	if !utf8.ValidString(c.Name) || !utf8.ValidString(c.Value) {
		l.Name, l.Value, l.Raw = "", "", []byte(c.Name+"="+c.Value)
	}
	if !utf8.ValidString(c.Jar) {
		l.Jar, l.RawJar = "", []byte(c.Jar)
	}
	b, _ := json.Marshal(&l) // plain values: can not fail
	return append(append(dst, b...), '\n')
}

// ReadChanges calls f for each of the changes that Append wrote, in their order.
// The error names the line that can not be read.
func ReadChanges(b []byte, f func(*Change)) error {
	for n := 1; len(b) > 0; n++ {
		text, rest, _ := bytes.Cut(b, []byte{'\n'})
		b = rest
		if len(text) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("cookie change %d: %w", n, err)
		}
		c := &Change{Jar: l.Jar, Cookie: Cookie{
			Name: l.Name, Value: l.Value, Domain: l.Domain, HostOnly: l.HostOnly, Path: l.Path,
			Secure: l.Secure, HTTPOnly: l.HTTPOnly, Expires: Session,
		}}
		if l.Expires != nil {
			c.Expires = *l.Expires
		}
		if l.RawJar != nil {
			c.Jar = string(l.RawJar)
		}
		if l.Raw != nil {
			c.Name, c.Value, _ = strings.Cut(string(l.Raw), "=")
		}
		if c.Domain == "" || c.Path == "" || !c.usable() {
			return fmt.Errorf("cookie change %d: it is no cookie", n)
		}
		f(c)
	}
	return nil
}
