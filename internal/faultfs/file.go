package faultfs

import (
	"io"
	"io/fs"
	"syscall"
)

const blockSize = 4096

// file is an open file of an FS.
type file struct {
	fs     *FS
	name   string
	node   *node
	lock   bool
	closed bool
}

func (h *file) check(k Kind) error {
	if h.closed {
		return &fs.PathError{Op: string(k), Path: h.name, Err: fs.ErrClosed}
	}
	return h.fs.faults.check(k, h.name)
}

func (h *file) ReadAt(b []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.check(Read); err != nil {
		return 0, err
	}
	if off >= int64(len(h.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.node.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *file) WriteAt(b []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.check(Write); err != nil {
		return 0, err
	}
	n := h.fs.faults.room(len(b))
	h.node.write(b[:n], off)
	if n < len(b) {
		return n, &fs.PathError{Op: "write", Path: h.name, Err: syscall.ENOSPC}
	}
	return n, nil
}

func (h *file) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.check(Sync); err != nil {
		return err
	}
	h.node.sync()
	return nil
}

func (h *file) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return 0, &fs.PathError{Op: "stat", Path: h.name, Err: fs.ErrClosed}
	}
	return int64(len(h.node.data)), nil
}

func (h *file) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.check(Truncate); err != nil {
		return err
	}
	h.fs.faults.free(len(h.node.data) - int(size))
	h.node.truncate(size)
	return nil
}

func (h *file) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return &fs.PathError{Op: "close", Path: h.name, Err: fs.ErrClosed}
	}
	h.closed = true
	if h.lock {
		h.node.locked = false
	}
	return nil
}

func (n *node) write(b []byte, off int64) {
	if len(b) == 0 {
		return
	}
	end := off + int64(len(b))
	if end > int64(len(n.data)) {
		n.mark(int64(len(n.data)), end)
		n.data = append(n.data, make([]byte, end-int64(len(n.data)))...)
	}
	n.mark(off, end)
	copy(n.data[off:], b)
}

func (n *node) truncate(size int64) {
	have := int64(len(n.data))
	n.mark(min(size, have), max(size, have))
	if size > have {
		n.data = append(n.data, make([]byte, size-have)...)
	}
	clear(n.data[size:])
	n.data = n.data[:size]
}

// mark makes the blocks of a range dirty.
func (n *node) mark(from, to int64) {
	for b := from / blockSize; b*blockSize < to; b++ {
		n.dirty[b] = true
	}
}

func (n *node) sync() {
	n.disk = n.settle(len(n.data), func(int64) bool { return true })
	clear(n.dirty)
}

// settle returns what the disk holds if the length reached it and those dirty
// blocks for which kept is true. Blocks that never reached it read as zeros.
func (n *node) settle(length int, kept func(block int64) bool) []byte {
	disk := n.disk
	if length > len(disk) {
		disk = append(disk, make([]byte, length-len(disk))...)
	}
	disk = disk[:length]
	for b := range n.dirty {
		from, to := b*blockSize, min((b+1)*blockSize, int64(length))
		if from >= to || !kept(b) {
			continue
		}
		clear(disk[from:to])
		if from < int64(len(n.data)) {
			copy(disk[from:to], n.data[from:])
		}
	}
	return disk
}
