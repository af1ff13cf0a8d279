package crawl

import (
	"cmp"
	"slices"

	"golang.org/x/net/html"
)

// inOrder returns positions of one tree in document order, each once. It may
// change found.
func inOrder(found []position) []position {
	if isOrdered(found) {
		return found
	}
	place := make(map[*html.Node]int, len(found))
	for _, p := range found {
		place[p.node] = 0
	}
	i := 0
	for n := top(found[0].node); n != nil; n = following(n, nil) {
		if _, ok := place[n]; ok {
			i++
			place[n] = i
		}
	}
	slices.SortFunc(found, func(a, b position) int {
		return cmp.Or(cmp.Compare(place[a.node], place[b.node]), cmp.Compare(a.attr, b.attr))
	})
	return slices.Compact(found)
}

// isOrdered walks from the first position on and looks whether it meets the
// others in turn.
func isOrdered(found []position) bool {
	if len(found) < 2 {
		return true
	}
	at := found[0]
	for _, p := range found[1:] {
		if p.node == at.node {
			if p.attr <= at.attr {
				return false
			}
			at = p
			continue
		}
		for at.node != p.node {
			if at.node = following(at.node, nil); at.node == nil {
				return false
			}
		}
		at = p
	}
	return true
}
