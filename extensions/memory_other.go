//go:build !unix

package extensions

func readMemory() (memory, error) { return memory{}, errNoMemory }
