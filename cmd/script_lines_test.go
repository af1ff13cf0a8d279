package cmd

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdWaitLines waits until a file has some number of lines.
func cmdWaitLines(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	look, late := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer look.Stop()
	for {
		b, _ := os.ReadFile(ts.MkAbs(args[0])) // it may not be there yet
		if strings.Count(string(b), "\n") >= want {
			return
		}
		select {
		case <-look.C:
		case <-late:
			ts.Fatalf("%s did not get %d lines in a minute", args[0], want)
		}
	}
}
