package demo

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// Pages is the number of pages of quotes.
	Pages = 5
	// PerPage is the number of quotes on each of them.
	PerPage = 10
)

// An Author is somebody who is quoted on the site.
type Author struct {
	Name, Born, Place, Bio string
}

// Path returns where the page of the author is.
func (a Author) Path() string {
	return "/author/" + strings.ToLower(strings.ReplaceAll(a.Name, " ", "-")) + "/"
}

// A Quote is one of the sayings on the site.
type Quote struct {
	Text   string
	Author Author
	Tags   []string
}

// Authors returns all authors. Nobody of them ever lived.
func Authors() []Author {
	return []Author{
		{"Ada Weaver", "March 3, 1871", "Ghent", "She mended nets for forty years and never threw one away."},
		{"Bruno Skein", "July 19, 1842", "Lyon", "He sold silk by the yard and advice by the pound."},
		{"Clara Thread", "May 1, 1890", "Porto", "She kept a list of everything she had read, and read the list."},
		{"Dov Spindle", "October 8, 1855", "Riga", "He waited for every answer, and was seldom disappointed."},
		{"Edda Loom", "January 27, 1903", "Bergen", "She built machines that stopped when they were asked to."},
		{"Felix Bobbin", "December 12, 1866", "Prague", "He numbered his mistakes and made each of them once."},
	}
}

// who are the beginnings of quotes, each with a tag.
func who() [PerPage][2]string {
	return [PerPage][2]string{
		{"A patient spider", "patience"},
		{"Whoever asks politely", "manners"},
		{"The second visitor", "repetition"},
		{"A full queue", "queues"},
		{"The one who writes it down", "memory"},
		{"A thread that is cut", "failure"},
		{"The shortest path", "paths"},
		{"A closed door", "doors"},
		{"The last page", "endings"},
		{"An open window", "doors"},
	}
}

// does are their ends, one a page.
func does() [Pages][2]string {
	return [Pages][2]string{
		{"is worth two in a hurry", "haste"},
		{"teaches more than it tells", "learning"},
		{"remembers where the journey stopped", "journeys"},
		{"needs no second knock", "manners"},
		{"was once the first of something", "beginnings"},
	}
}

// PageOf returns the quotes of a page, from 1 to [Pages].
func PageOf(page int) []Quote {
	authors, end := Authors(), does()[page-1]
	quotes := make([]Quote, PerPage)
	for i, start := range who() {
		quotes[i] = Quote{
			Text:   fmt.Sprintf("%s %s.", start[0], end[0]),
			Author: authors[(i*Pages+page)%len(authors)],
			Tags:   slices.Compact([]string{start[1], end[1]}),
		}
	}
	return quotes
}

func pagePath(page int) string {
	if page == 1 {
		return "/"
	}
	return fmt.Sprintf("/page/%d/", page)
}
