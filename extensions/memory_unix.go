//go:build unix && !linux

package extensions

import (
	"runtime"
	"syscall"
)

// readMemory knows the peak only.
func readMemory() (memory, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return memory{}, err
	}
	peak := int64(u.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak <<= 10 // KiB everywhere else
	}
	if peak <= 0 {
		return memory{}, errNoMemory
	}
	return memory{current: peak, peak: peak}, nil
}
