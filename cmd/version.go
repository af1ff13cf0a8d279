package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// module is the path of this module, under which a program that imports it
// finds its version.
const module = "github.com/skeincrawl/skein"

// version is set by the linker: -X github.com/skeincrawl/skein/cmd.version=1.2.3.
var version string

func newVersion(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Shows the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := pipe{sys.Stdout}.Write([]byte(versionText(sys)))
			return err
		},
	}
}

// versionText tells which version this is. A program of somebody else that
// uses this module is named with a version of its own.
func versionText(sys *system) string {
	var b strings.Builder
	own, other := versions(sys)
	fmt.Fprintf(&b, "Skein %s\n", own)
	if other != "" {
		fmt.Fprintf(&b, "Program %s\n", other)
	}
	if commit := commitOf(sys.Build); commit != "" {
		fmt.Fprintf(&b, "Commit %s\n", commit)
	}
	fmt.Fprintf(&b, "Go %s %s/%s\n", strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH)
	return b.String()
}

func versions(sys *system) (own, other string) {
	own = sys.Version
	if sys.Build == nil {
		return orUnknown(own), ""
	}
	if m := sys.Build.Main; m.Path != "" && m.Path != module {
		other = m.Path + " " + orUnknown(m.Version)
	} else if own == "" {
		own = m.Version
	}
	for _, dep := range sys.Build.Deps {
		if dep.Path == module && own == "" {
			own = dep.Version
		}
	}
	return orUnknown(own), other
}

func orUnknown(v string) string {
	if v == "" || v == "(devel)" {
		return "development version"
	}
	return v
}

// commitOf returns the commit that the program was built from, if the build
// noted it.
func commitOf(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	values := map[string]string{}
	for _, s := range info.Settings {
		values[s.Key] = s.Value
	}
	commit := values["vcs.revision"]
	if commit != "" && values["vcs.modified"] == "true" {
		commit += " with changes"
	}
	return commit
}
