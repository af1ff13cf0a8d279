package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
)

// field is one field of the items.
type field struct{ name, selector string }

// Validate checks the arguments. Everything that is wrong is returned at once,
// as [crawl.ArgError]s.
func (s *Spider) Validate() error {
	var c checker
	s.allow = c.regexp("allow", s.Allow)
	s.deny = c.regexp("deny", s.Deny)
	if s.Pages < 0 {
		c.fail("pages", strconv.Itoa(s.Pages), errors.New("it is a number of pages, 0 for no limit"))
	}
	var err error
	if s.fields, err = parseFields(s.Fields); err != nil {
		c.fail("fields", s.Fields, err)
	}
	if s.domains, err = parseDomains(s.Domains); err != nil {
		c.fail("domains", s.Domains, err)
	}
	if s.source, err = parseStart(s.StartURLs); err != nil {
		c.fail("start", s.StartURLs, err)
	} else if len(c.errs) == 0 && !s.source.stdin {
		return s.scan(context.Background())
	}
	return errors.Join(c.errs...)
}

// checker collects errors.
type checker struct{ errs []error }

func (c *checker) fail(arg, value string, err error) {
	if err != nil {
		c.errs = append(c.errs, argError(arg, value, err))
	}
}

func argError(arg, value string, err error) error {
	return &crawl.ArgError{Spider: "site", Arg: arg, Value: value, Reason: err.Error()}
}

func (c *checker) regexp(arg, value string) *regexp.Regexp {
	if value == "" {
		return nil
	}
	re, err := regexp.Compile(value)
	c.fail(arg, value, err)
	return re
}

// parseFields reads a JSON object from names to selectors, in its order.
func parseFields(s string) ([]field, error) {
	if s == "" {
		return nil, nil
	}
	dec := json.NewDecoder(strings.NewReader(s))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, fmt.Errorf(`%q is no JSON object such as {"title":"h1::text"}`, clip(s))
	}
	var fields []field
	for dec.More() {
		f, err := parseField(dec)
		if err != nil {
			return nil, err
		}
		if slices.Contains([]string{"url", "status", "depth"}, f.name) {
			return nil, fmt.Errorf("field %q is in every item already", f.name)
		}
		if slices.ContainsFunc(fields, func(o field) bool { return o.name == f.name }) {
			return nil, fmt.Errorf("field %q is given twice", f.name)
		}
		fields = append(fields, f)
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return fields, nil
}

func parseField(dec *json.Decoder) (field, error) {
	name, err := dec.Token()
	if err != nil {
		return field{}, jsonError(err)
	}
	value, err := dec.Token()
	if err != nil {
		return field{}, jsonError(err)
	}
	f := field{name: name.(string)} // the decoder sees to it
	selector, ok := value.(string)
	if !ok {
		return f, fmt.Errorf("the selector of field %q is no string", f.name)
	}
	f.selector = selector
	if err := crawl.CompileCSS(selector); err != nil {
		return f, fmt.Errorf("field %q: %w", f.name, err)
	}
	return f, nil
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// anyDomain is the value of domains for no restriction.
const anyDomain = "*"

// parseDomains reads a list of domain names. Those of an international name are
// returned as A-labels.
func parseDomains(s string) ([]string, error) {
	if s == "" || s == anyDomain {
		return nil, nil
	}
	var domains []string
	for d := range strings.SplitSeq(s, ",") {
		d = strings.TrimSpace(d)
		host := weburl.Host("http://" + d + "/")
		if bracketed := strings.HasPrefix(d, "["); host == "" || strings.ContainsAny(d, "/@?#* ") || !bracketed && strings.Contains(d, ":") {
			return nil, fmt.Errorf("%q is no domain: write names such as example.com without scheme, port and path, or * alone for any", clip(d))
		}
		domains = append(domains, host)
	}
	return domains, nil
}
