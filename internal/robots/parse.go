package robots

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
)

// Parse reads a robots.txt. It never fails: what is no rule is passed over. Of
// a file longer than [MaxSize] the lines that are not whole within it do not
// count.
func Parse(body []byte) *File {
	p := parser{
		file:  &File{agents: map[string][]*group{}, delays: map[string]time.Duration{}, size: fileSize},
		names: map[string]bool{}, row: map[string]bool{},
	}
	for line := range lines(string(head(body))) {
		key, value, ok := split(line)
		if ok {
			p.record(key, value)
		}
	}
	p.endRow()
	p.end()
	return p.file
}

// head returns the part of a file that counts, without what it has of a byte
// order mark. The format is UTF-8; that a file is UTF-16 only its mark can say.
func head(body []byte) []byte {
	if len(body) > MaxSize {
		body = body[:MaxSize]
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
	}
	if bytes.HasPrefix(body, []byte("\xfe\xff")) || bytes.HasPrefix(body, []byte("\xff\xfe")) {
		body, _ = unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Bytes(body) // which replaces what is no character
	}
	for _, c := range []byte("\xef\xbb\xbf") {
		if len(body) == 0 || body[0] != c {
			break
		}
		body = body[1:]
	}
	return body
}

// lines yields the lines of a text that end with CR, LF or both.
func lines(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\r' || c == '\n' })
}

// split cuts a line into the name in lower case and the value of its record. The
// colon may be missing.
func split(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		if key, value, ok = splitWords(line); !ok {
			return "", "", false
		}
	}
	key = normal(strings.TrimSpace(strings.ToValidUTF8(key, "")))
	return key, strings.TrimSpace(value), key != ""
}

// normal returns the name of a record in lower case, with a hyphen between words.
func normal(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// splitWords cuts a line without a colon: one of two words, or one with a name of
// two words before its value.
func splitWords(line string) (key, value string, ok bool) {
	i := strings.IndexAny(line, " \t")
	if i < 0 {
		return "", "", false
	}
	for _, name := range []string{"user-agent", crawlDelay, requestRate} {
		if n := len(name); len(line) > n && normal(line[:n]) == name && strings.ContainsAny(line[n:n+1], " \t") {
			return line[:n], strings.TrimSpace(line[n:]), true
		}
	}
	value = strings.TrimSpace(line[i:])
	return line[:i], value, !strings.ContainsAny(value, " \t")
}

// The records that ask for rest.
const (
	crawlDelay  = "crawl-delay"
	requestRate = "request-rate"
)

// isUserAgent reports whether a line with this name names a crawler, also as
// people write it.
func isUserAgent(key string) bool {
	switch key {
	case "user-agent", "useragent", "useg-agent", "users-agent":
		return true
	}
	return false
}

// A parser collects groups.
type parser struct {
	file     *File
	names    map[string]bool // in the user-agent lines of the group
	group    *group          // nil before the first of its rules
	opened   bool
	row      map[string]bool // in the user-agent lines that came last, with no rule and no delay among them
	rowDelay time.Duration   // the longest that was asked of them
	inRow    bool
}

// record takes one line. Those that are no rule, such as Sitemap, neither end a
// group nor its user-agent lines.
func (p *parser) record(key, value string) {
	switch {
	case isUserAgent(key):
		p.agents(value)
	case key == "allow":
		p.rule(value, true)
		p.rule(directory(value), true)
	case isDisallow(key):
		p.rule(value, false)
	case key == crawlDelay:
		p.delay(period(value))
	case key == requestRate:
		p.delay(rate(value))
	}
}

// isDisallow reports whether a line with this name forbids a path, also as people
// write it.
func isDisallow(key string) bool {
	switch key {
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow", "dsallow":
		return true
	}
	return false
}

// agents begins a group, or names one more crawler of it; several, if there are
// commas between them.
func (p *parser) agents(value string) {
	if p.group != nil {
		p.end()
	}
	if !p.inRow {
		p.endRow()
		p.inRow = true
	}
	p.opened = true
	for name := range strings.SplitSeq(value, ",") {
		p.agent(strings.TrimSpace(name))
	}
}

func (p *parser) agent(value string) {
	name := strings.ToLower(token(value))
	if rest, ok := strings.CutPrefix(value, anyAgent); ok && (rest == "" || rest[0] >= 0x80 || token(rest[:1]) == "") {
		name = anyAgent
	}
	if name == "" || p.row[name] {
		return
	}
	name = strings.Clone(name) // a part of the text would keep all of it in memory
	p.row[name], p.names[name] = true, true
}

// rule adds a rule to the group. Rules before the first user-agent line belong
// to nobody.
func (p *parser) rule(pattern string, allow bool) {
	p.inRow = false
	if !p.opened {
		return
	}
	if p.group == nil {
		p.group = &group{}
	}
	if r, ok := newRule(pattern, allow); ok {
		p.group.rules = append(p.group.rules, r)
		p.file.size += ruleSize + len(r.pattern)
	}
}

// directory returns the pattern for the directory of which an index page is
// allowed, "" for other pages. Google's parser has this rule.
func directory(pattern string) string {
	if i := strings.LastIndexByte(pattern, '/'); i >= 0 && strings.HasPrefix(pattern[i:], "/index.htm") {
		return pattern[:i+1] + "$"
	}
	return ""
}

// end files the group under its names. One without rules allows everything, and
// counts as the crawler's own.
func (p *parser) end() {
	if p.group == nil {
		p.group = &group{}
	}
	slices.SortStableFunc(p.group.rules, func(a, b rule) int {
		if n := cmp.Compare(b.length(), a.length()); n != 0 || a.allow == b.allow {
			return n
		}
		if a.allow {
			return -1
		}
		return 1
	})
	for name := range p.names {
		p.file.add(name, p.group)
	}
	p.names, p.group = map[string]bool{}, nil
}
