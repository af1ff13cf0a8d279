package robots

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// numbered returns a text that is as long as a file may be, of lines or words
// with a number each.
func numbered(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < MaxSize-40; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// swollen are files that would take a careless parser seconds or gigabytes.
func swollen() map[string]string {
	const many = 12_000
	return map[string]string{
		"a name often, delays":  "User-agent: " + strings.Repeat("a,", many) + "\n" + strings.Repeat("Crawl-delay: 1\n", many/7),
		"many names, a delay":   "User-agent: " + numbered("%x,") + "\nCrawl-delay: 1\n",
		"many names, one group": numbered("User-agent: %x\n") + "Disallow: /",
		"many groups":           numbered("User-agent: %x\nAllow:\n"),
		"many delays":           numbered("User-agent: %x\nCrawl-delay: 1\n"),
		"many rules":            "User-agent: *\n" + numbered("Allow: %x\n"),
		"groups of a name":      strings.Repeat("User-agent: a\nDisallow: /\n", many),
		"a comment":             "User-agent: mybot\nUser-agent: *\nCrawl-delay: 1\nDisallow: /a\n#" + strings.Repeat("x", MaxSize/2),
		"empty":                 "",
	}
}

// Size is what a file takes, and that is linear in its text. The test is not
// parallel: it measures the memory of the process.
func TestSize(t *testing.T) {
	for name, text := range swollen() {
		before := heap()
		files := make([]*File, 4)
		for i := range files {
			files[i] = Parse([]byte(text))
		}
		took, size := (heap()-before)/len(files), files[0].Size()
		runtime.KeepAlive(files)
		if took > size || size > fileSize+40*len(text) {
			t.Errorf("%s, %d bytes: takes %d, Size = %d, want no less and at most 40 times the text", name, len(text), took, size)
		}
	}
}

// heap returns the bytes in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers held
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
