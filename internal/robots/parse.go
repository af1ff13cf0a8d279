package robots

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Parse reads a robots.txt. It never fails: what is no rule is passed over. Of
// a file longer than [MaxSize] the lines that are not whole within it do not
// count.
func Parse(body []byte) *File {
	p := parser{file: &File{agents: map[string][]*group{}}}
	for line := range lines(string(head(body))) {
		key, value, ok := split(line)
		if ok {
			p.record(key, value)
		}
	}
	p.end()
	return p.file
}

// head returns the part of a file that counts, without what it has of a byte
// order mark.
func head(body []byte) []byte {
	if len(body) > MaxSize {
		body = body[:MaxSize]
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
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
// colon may be missing if there are two words.
func split(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return "", "", false
		}
		key, value = line[:i], strings.TrimSpace(line[i:])
		if strings.ContainsAny(value, " \t") {
			return "", "", false
		}
	}
	key = strings.ToLower(strings.TrimSpace(strings.ToValidUTF8(key, "")))
	return key, strings.TrimSpace(value), key != ""
}

// A parser collects groups.
type parser struct {
	file   *File
	names  []string // the user-agent lines of the group
	group  *group   // nil before the first of its rules
	opened bool
	row    []string // the user-agent lines that came last, with no rule and no delay among them
	inRow  bool
}

// record takes one line. Those that are no rule, such as Sitemap, neither end a
// group nor its user-agent lines.
func (p *parser) record(key, value string) {
	switch key {
	case "user-agent", "useragent", "user agent":
		p.agent(value)
	case "allow":
		p.rule(value, true)
		p.rule(directory(value), true)
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw": // as people write it
		p.rule(value, false)
	case "crawl-delay":
		p.delay(period(value))
	case "request-rate":
		p.delay(rate(value))
	}
}

func (p *parser) agent(value string) {
	if p.group != nil {
		p.end()
	}
	if !p.inRow {
		p.row, p.inRow = nil, true
	}
	p.opened = true
	name := strings.ToLower(token(value))
	if rest, ok := strings.CutPrefix(value, anyAgent); ok && (rest == "" || rest[0] >= 0x80 || token(rest[:1]) == "") {
		name = anyAgent
	}
	if name == "" {
		return
	}
	p.row = append(p.row, name)
	if !slices.Contains(p.names, name) {
		p.names = append(p.names, name)
	}
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
	for _, name := range p.names {
		p.file.agents[name] = append(p.file.agents[name], p.group)
	}
	p.names, p.group = nil, nil
}
