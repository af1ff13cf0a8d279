// Package cmd is the command line of the crawler as a library. The stock
// binary is one call of [Main], and so is a program with spiders of its own:
//
//	package main
//
//	import (
//		"github.com/skeincrawl/skein/cmd"
//
//		_ "example.org/shop/spiders" // calls crawl.Register in an init function
//	)
//
//	func main() { cmd.Main() }
//
// It has every command, flag, environment variable and exit code of the stock
// binary. This is the only package that knows signals, exit codes and the
// standard streams; all of them reach it through one struct.
package cmd

import (
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	// Every built-in component registers itself.
	_ "github.com/skeincrawl/skein/engine/builtin"
)

// system is all that the command line touches of its surroundings.
type system struct {
	Args    []string // without the name of the program
	Environ []string // in the form of os.Environ
	Dir     string   // where the config file is looked for
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer

	Terminal    bool             // whether Stderr is one that shows colours
	OutTerminal bool             // whether Stdout is
	Signals     <-chan os.Signal // os.Interrupt and SIGTERM
	Bounce      time.Duration    // how soon after a signal the same one is only its echo
	Exit        func(code int)   // ends the process at once, for the third signal
	Root        fs.FS            // the root of the file system, to find the container's limits
	Version     string           // set by the linker, or empty
	Build       *debug.BuildInfo // nil if unknown
	GoLog       func(io.Writer)  // takes over the log of Go's own packages; may be nil
	Sources     string           // the folder of this module on the machine that built the program, or empty
}

// Main runs the command line of the process and exits.
func Main() {
	registerDemo()
	os.Exit(mainCode())
}

func mainCode() int {
	// A reader of standard output that goes away is then an error of the write
	// and not the death of the process: the job is closed in good order.
	signal.Ignore(syscall.SIGPIPE)
	// A crash of the program, such as a panic in a goroutine of a spider's own, is
	// then no exit code that means something else.
	debug.SetTraceback("crash")
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	build, _ := debug.ReadBuildInfo()
	return run(&system{
		Args: os.Args[1:], Environ: os.Environ(), Dir: ".",
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: isTerminal(os.Stderr), OutTerminal: isTerminal(os.Stdout),
		GoLog: takeGoLog, Signals: signals, Bounce: 50 * time.Millisecond, Exit: os.Exit, Root: os.DirFS("/"), Version: version, Build: build, Sources: sources(),
	})
}

// takeGoLog lets what Go's packages log go to w: net/http tells of servers that send
// what nobody asked for.
func takeGoLog(w io.Writer) {
	log.SetFlags(0)
	log.SetOutput(w)
}

// isTerminal reports whether f is a terminal that understands colours. Those
// of Windows may not.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0 && runtime.GOOS != "windows"
}
