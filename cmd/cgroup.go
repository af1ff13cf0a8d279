package cmd

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// containerMemory returns the memory limit of the container in bytes: the least
// of those of the process's control groups, version 1 or 2, and the groups above
// them. root is the root of the file system. It reports false if there is none.
func containerMemory(root fs.FS) (int64, bool) {
	const top = "sys/fs/cgroup"
	files := []string{top + "/memory.max", top + "/memory/memory.limit_in_bytes"}
	list, err := fs.ReadFile(root, "proc/self/cgroup")
	if err == nil {
		for line := range strings.Lines(string(list)) {
			files = append(files, limitFiles(top, strings.TrimSpace(line))...)
		}
	}
	least, found := int64(0), false
	for _, f := range files {
		if n, ok := readLimit(root, f); ok && (!found || n < least) {
			least, found = n, true
		}
	}
	return least, found
}

// limitFiles returns where the limits of one line of /proc/self/cgroup are. See
// cgroups(7): hierarchy-ID:controllers:path, with the controllers of version 2
// left empty.
func limitFiles(top, line string) []string {
	_, rest, _ := strings.Cut(line, ":")
	controllers, group, ok := strings.Cut(rest, ":")
	name := "memory.max"
	switch {
	case !ok:
		return nil
	case controllers == "":
	case strings.Contains(","+controllers+",", ",memory,"):
		top, name = top+"/memory", "memory.limit_in_bytes"
	default:
		return nil
	}
	var files []string
	// The path may lead out of what the container sees; it is cut off there.
	for dir := path.Clean("/" + group); dir != "/"; dir = path.Dir(dir) {
		files = append(files, top+dir+"/"+name)
	}
	return files
}

// unlimited is far above any memory and below what version 1 writes for none,
// which is the greatest number of whole pages.
const unlimited = 1 << 60

func readLimit(root fs.FS, name string) (int64, bool) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64) // "max" is none
	return n, err == nil && n > 0 && n < unlimited
}
