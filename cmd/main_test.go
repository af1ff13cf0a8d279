package cmd

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
)

// TestMain makes two programs of the test binary for the scripts: crawl, and
// one with a spider that is named like a command.
func TestMain(m *testing.M) {
	registerSpiders()
	testscript.Main(leakChecked{m}, map[string]func(){
		"crawl": Main,
		"crawl-clash": func() {
			crawl.Register(crawl.Spec{Name: "list", New: func() crawl.Spider { return &shop{} }})
			Main()
		},
	})
}

// leakChecked fails the run if a goroutine outlives it.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
