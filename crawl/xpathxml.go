package crawl

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// parse builds the tree of the page.
func (r *Response) parse() (*html.Node, error) {
	if r.isXML() {
		return parseXML(r.decoded()), nil
	}
	return parseHTML(r.decoded())
}

// isXML reports whether the response is XML and not HTML by its media type, or,
// if it says none, by the beginning of its body.
func (r *Response) isXML() bool {
	switch t := r.ContentType(); t {
	case "text/xml", "application/xml":
		return true
	case "":
		return strings.HasPrefix(http.DetectContentType(r.Body), "text/xml")
	default:
		return strings.HasSuffix(t, "+xml") && !r.IsHTML()
	}
}

// An element of XML is an html.Node, so that both kinds of selectors serve both
// kinds of pages: its Data is the local name in lower case, for CSS, and its
// Namespace the name as it is written, a space, and the address of the namespace.
// No element of HTML has a space there.

// isXML reports whether a node is an element of XML, or a document of them.
func isXML(n *html.Node) bool {
	if n.Type == html.DocumentNode {
		root := rootElement(n)[0]
		return root != n && isXML(root)
	}
	return n.Namespace != "" && strings.IndexByte(n.Namespace, ' ') >= 0
}

// nameOf returns the parts of an element's name.
func nameOf(n *html.Node) (prefix, local, uri string) {
	if n.Namespace == "" {
		return "", n.Data, ""
	}
	name, uri, ok := strings.Cut(n.Namespace, " ")
	if !ok {
		return "", n.Data, ""
	}
	if prefix, local, ok = strings.Cut(name, ":"); ok {
		return prefix, local, uri
	}
	return "", name, uri
}

// maxXMLDepth bounds the nesting of elements, as the HTML parser does. The tags
// of deeper ones are passed over; what they contain stays.
const maxXMLDepth = 512

// maxXMLErrors bounds how often the parser begins anew: what has that many errors
// is no XML.
const maxXMLErrors = 1000

// parseXML builds a tree of XML, of a malformed one as far as it is readable: end
// tags that fit nothing are passed over, and after an error of syntax it goes on
// at the next tag. Entities of a document type are not expanded.
func parseXML(text []byte) *html.Node {
	document := &html.Node{Type: html.DocumentNode}
	p := xmlParser{top: document, names: map[xmlName]xmlName{}}
	if bytes.IndexFunc(text, isControl) >= 0 {
		text = bytes.Map(dropControl, text)
	}
	text = withoutDeclaration(text)
	for range maxXMLErrors {
		d := xml.NewDecoder(bytes.NewReader(text))
		d.Strict, d.Entity = false, xml.HTMLEntity
		if err := p.read(d); errors.Is(err, io.EOF) {
			break
		}
		text = text[max(d.InputOffset(), 1):]
		next := bytes.IndexByte(text, '<')
		if next < 0 {
			break
		}
		text = text[next:]
	}
	p.flush()
	return document
}

// isControl reports whether no XML may hold a character.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

func dropControl(r rune) rune {
	if isControl(r) {
		return -1
	}
	return r
}

// withoutDeclaration cuts the XML declaration: its encoding no longer holds.
func withoutDeclaration(text []byte) []byte {
	text = bytes.TrimLeft(text, " \t\r\n")
	if bytes.HasPrefix(text, []byte("<?xml ")) {
		if _, rest, ok := bytes.Cut(text, []byte("?>")); ok {
			return rest
		}
	}
	return text
}

// xmlName are the name and the namespace as in a node's Data and Namespace, or,
// as a key, as they were read.
type xmlName struct{ name, namespace string }

type xmlParser struct {
	top   *html.Node
	text  strings.Builder // of top, not yet in the tree
	open  []xmlOpen
	over  int // open elements that are nested too deeply
	names map[xmlName]xmlName
	scope *xmlScope
}

// xmlOpen is an open element: its name, and the namespaces around it.
type xmlOpen struct {
	name  string
	outer *xmlScope
}

// An xmlScope is one declaration of a namespace and those around it.
type xmlScope struct {
	prefix, uri string
	outer       *xmlScope
}

// read takes tokens until there are none or there is an error.
func (p *xmlParser) read(d *xml.Decoder) error {
	for {
		t, err := d.RawToken()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			p.start(t)
		case xml.EndElement:
			p.end(t.Name)
		case xml.CharData:
			p.text.Write(t)
		case xml.Comment:
			p.add(&html.Node{Type: html.CommentNode, Data: string(t)})
		}
	}
}

func qualified(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// add appends a node to the one that is open, after its text.
func (p *xmlParser) add(n *html.Node) {
	p.flush()
	p.top.AppendChild(n)
}

// flush puts the text into the tree; outside of the root element there is none.
func (p *xmlParser) flush() {
	if p.text.Len() > 0 && p.top.Type == html.ElementNode {
		p.top.AppendChild(&html.Node{Type: html.TextNode, Data: p.text.String()})
	}
	p.text.Reset()
}

func (p *xmlParser) start(t xml.StartElement) {
	if len(p.open) >= maxXMLDepth {
		p.over++
		return
	}
	open := xmlOpen{name: qualified(t.Name), outer: p.scope}
	n := &html.Node{Type: html.ElementNode, Attr: make([]html.Attribute, 0, len(t.Attr))}
	for _, a := range t.Attr {
		switch {
		case a.Name.Space == "xmlns":
			p.scope = &xmlScope{a.Name.Local, a.Value, p.scope}
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			p.scope = &xmlScope{"", a.Value, p.scope}
		}
		n.Attr = append(n.Attr, html.Attribute{Namespace: a.Name.Space, Key: a.Name.Local, Val: a.Value})
	}
	name := p.intern(open.name, t.Name.Local, p.namespace(t.Name.Space))
	n.Data, n.Namespace = name.name, name.namespace
	p.add(n)
	p.top = n
	p.open = append(p.open, open)
}

// intern returns the names of a node; those of equal elements are one string.
func (p *xmlParser) intern(name, local, uri string) xmlName {
	key := xmlName{name, uri}
	n, ok := p.names[key]
	if !ok {
		n = xmlName{strings.ToLower(local), name + " " + uri}
		p.names[key] = n
	}
	return n
}

func (p *xmlParser) namespace(prefix string) string {
	for s := p.scope; s != nil; s = s.outer {
		if s.prefix == prefix {
			return s.uri
		}
	}
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace"
	}
	return ""
}

// end closes the innermost element of a name, and those inside of it, or the
// innermost of all if only the prefix is wrong.
func (p *xmlParser) end(t xml.Name) {
	if p.over > 0 {
		p.over--
		return
	}
	name := qualified(t)
	for i, open := range slices.Backward(p.open) {
		if open.name == name {
			p.closeTo(i)
			return
		}
	}
	if last := len(p.open) - 1; last >= 0 {
		if _, local, _ := nameOf(p.top); local == t.Local {
			p.closeTo(last)
		}
	}
}

// closeTo closes the open elements from the i-th on.
func (p *xmlParser) closeTo(i int) {
	p.flush()
	for range p.open[i:] {
		p.top = p.top.Parent
	}
	p.scope = p.open[i].outer
	p.open = p.open[:i]
}

var (
	xmlText  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")   //nolint:gochecknoglobals // never changed.
	xmlValue = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;") //nolint:gochecknoglobals // never changed.
)

// renderXML writes a node as XML, with the declarations of namespaces that its
// own elements make.
func renderXML(b *strings.Builder, n *html.Node) {
	switch n.Type {
	case html.TextNode:
		_, _ = xmlText.WriteString(b, n.Data) // a strings.Builder never fails
		return
	case html.CommentNode:
		b.WriteString("<!--" + n.Data + "-->")
		return
	}
	name, _, _ := strings.Cut(n.Namespace, " ")
	if n.Type == html.ElementNode {
		openXML(b, name, n.Attr)
		if n.FirstChild == nil {
			b.WriteString("/>")
			return
		}
		b.WriteByte('>')
	}
	for c := range n.ChildNodes() {
		renderXML(b, c)
	}
	if n.Type == html.ElementNode {
		b.WriteString("</" + name + ">")
	}
}

func openXML(b *strings.Builder, name string, attrs []html.Attribute) {
	b.WriteString("<" + name)
	for _, a := range attrs {
		b.WriteByte(' ')
		if a.Namespace != "" {
			b.WriteString(a.Namespace + ":")
		}
		b.WriteString(a.Key + `="`)
		_, _ = xmlValue.WriteString(b, a.Val) // as above
		b.WriteByte('"')
	}
}
