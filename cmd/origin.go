package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// goVersion is what a project asks of Go: as much as this module does.
const goVersion = "1.26.0"

// An origin says where a project takes this module from.
type origin struct {
	Skein, Go, Version string
	Replace            string   // a folder, quoted for go.mod if it has to be; or empty
	Requires           []string // path and version of what the module needs, with Replace
	Sums               []byte   // its go.sum, with Replace
}

// sources returns the folder that this module was built from, or "" if the
// build did not keep it or it is a release in the cache of Go.
func sources() string {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Dir(filepath.Dir(filepath.FromSlash(file)))
	if !filepath.IsAbs(dir) || strings.Contains(dir, "@") {
		return ""
	}
	return dir
}

// originOf finds out where a project can get this module from: a folder that
// was named, the checkout that the program was built from, or the release that
// it is. A project on a checkout builds without network, because the folder
// tells all that it needs in turn.
func originOf(sys *system, replace string) (origin, error) {
	if replace != "" {
		o, err := checkout(replace)
		if err != nil {
			return o, fmt.Errorf("--replace %s: %w", replace, err)
		}
		return o, nil
	}
	if sys.Sources != "" {
		if o, err := checkout(sys.Sources); err == nil {
			return o, nil
		}
	}
	version := release(sys)
	if version == "" {
		return origin{}, errors.New("this program is a development version, which nobody can download: say with --replace FOLDER where its source is")
	}
	return origin{Skein: module, Go: goVersion, Version: version}, nil
}

var (
	moduleLine  = regexp.MustCompile(`(?m)^module\s+(\S+)`)
	requireLine = regexp.MustCompile(`(?m)^(?:require)?[ \t]+(\S+ v\S+)`)
	plainPath   = regexp.MustCompile(`^[A-Za-z0-9_./\\:~+-]+$`)
)

func checkout(dir string) (origin, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return origin{}, fmt.Errorf("find the folder: %w", err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return origin{}, fmt.Errorf("read its go.mod: %w", err)
	}
	if m := moduleLine.FindSubmatch(mod); m == nil || string(m[1]) != module {
		return origin{}, fmt.Errorf("it is not the source of %s", module)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return origin{}, fmt.Errorf("read its go.sum: %w", err)
	}
	o := origin{Skein: module, Go: goVersion, Version: "v0.0.0", Replace: dir, Sums: sums}
	if !plainPath.MatchString(dir) {
		o.Replace = strconv.Quote(dir)
	}
	for _, m := range requireLine.FindAllSubmatch(mod, -1) {
		o.Requires = append(o.Requires, string(m[1]))
	}
	return o, nil
}

var (
	released  = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	described = regexp.MustCompile(`-\d+-g[0-9a-f]+$|-dirty$`) // what git describe adds between releases
)

// release returns the version under which this module can be downloaded, or "".
// The build knows it best: a version of the linker is only a text.
func release(sys *system) string {
	var known []string
	if b := sys.Build; b != nil {
		if b.Main.Path == module {
			known = append(known, b.Main.Version)
		}
		for _, dep := range b.Deps {
			if dep.Path == module && dep.Replace == nil {
				known = append(known, dep.Version)
			}
		}
	}
	for _, v := range append(known, sys.Version) {
		if released.MatchString(v) && !described.MatchString(v) {
			return v
		}
	}
	return ""
}
