package jobs

// AppendFrame lets tests write frames of their own.
func AppendFrame(dst []byte, seq uint64, ops []byte) []byte { return appendFrame(dst, seq, ops) }
