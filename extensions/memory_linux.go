package extensions

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// readMemory takes both figures from the kernel's status of the process. The
// one of getrusage would be that of the parent process if it was larger.
func readMemory() (memory, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return memory{}, err
	}
	return parseStatus(status)
}

// parseStatus reads proc_pid_status(5). Some kernels leave the peak out.
func parseStatus(status []byte) (memory, error) {
	var m memory
	for line := range bytes.Lines(status) {
		var dst *int64
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "VmRSS":
			dst = &m.current
		case "VmHWM":
			dst = &m.peak
		default:
			continue
		}
		kib, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 40)
		if err != nil || kib < 0 {
			return memory{}, fmt.Errorf("%s is %q: %w", name, value, errNoMemory)
		}
		*dst = kib << 10
	}
	if m.current == 0 {
		return memory{}, errNoMemory
	}
	m.peak = max(m.peak, m.current)
	return m, nil
}
