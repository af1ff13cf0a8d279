package settings

import (
	"iter"
	"strings"
)

// maxNear bounds the length of a name for which a nearest one is looked for,
// in bytes: the comparison costs the product of both lengths.
const maxNear = 100

// Nearest returns the name in have that name was probably meant to be, or ""
// if none is near. Distance is the number of letters to insert, delete, replace
// or swap with their neighbour, whatever their case; up to a quarter of
// the letters may differ. Among equally near names the first in byte order wins.
func Nearest(name string, have iter.Seq[string]) string {
	if name == "" || len(name) > maxNear {
		return ""
	}
	best, found := (len(name)+3)/4+1, ""
	folded := strings.ToLower(name)
	for candidate := range have {
		if len(candidate) > maxNear {
			continue
		}
		d := distance(folded, strings.ToLower(candidate))
		if d < best || d == best && found != "" && candidate < found {
			best, found = d, candidate
		}
	}
	return found
}

// distance is the optimal string alignment distance in bytes. Only the last
// three rows of the table are kept.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func differ(x, y byte) int {
	if x == y {
		return 0
	}
	return 1
}
