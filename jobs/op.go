package jobs

import "fmt"

// Addr is the address of a pushed record: the segment in the upper and the
// ordinal within it in the lower 32 bits. Addresses grow with time within a
// job and never change; zero is no address.
type Addr uint64

func makeAddr(segment, ordinal uint32) Addr { return Addr(segment)<<32 | Addr(ordinal) }

// Segment returns the number of the segment, from 1.
func (a Addr) Segment() uint32 { return uint32(a >> 32) }

// Ordinal returns the number of the record within its segment, from 0.
func (a Addr) Ordinal() uint32 { return uint32(a) }

// String writes segment:ordinal.
func (a Addr) String() string { return fmt.Sprintf("%d:%d", a.Segment(), a.Ordinal()) }

// Record is what is pushed: to this package an opaque body with what a queue
// needs to know to order it.
type Record struct {
	Slot        string
	Priority    int64
	NotBefore   int64 // Unix milliseconds, 0 for at once
	Fingerprint [20]byte
	Flags       uint8 // the caller's own
	Body        []byte
}

// Kind says what an [Op] is. Its values are the codes in the journal.
type Kind uint8

// The operations that [Job.Recover] hands to the caller.
const (
	// OpPush is a record that was queued.
	OpPush Kind = 0x02
	// OpAck ends the life of the record at Addr.
	OpAck Kind = 0x03
	// OpAttempt says that the record at Addr was handed to the spider once.
	OpAttempt Kind = 0x04
	// OpSeen marks a fingerprint without queueing anything.
	OpSeen Kind = 0x05
	// OpProvisional is a push that counts only once its Owner is adopted.
	OpProvisional Kind = 0x06
	// OpAdopt makes the provisional pushes of Owner real.
	OpAdopt Kind = 0x07
	// OpMeta sets Key to Value; the last one wins.
	OpMeta Kind = 0x08
	// OpRound starts the round number Round.
	OpRound Kind = 0x0C
	// OpRelease gives the record at Addr back: its attempt is void, and so are the
	// provisional pushes that it owns.
	OpRelease Kind = 0x10
	// OpUnseen takes the mark of a fingerprint back.
	OpUnseen Kind = 0x11

	// OpTally gives the record at Addr the number N, of the owner's own meaning. Only
	// snapshots have it.
	OpTally Kind = 0x15

	// OpPending is a record that was queued before the snapshot from which the
	// job is recovered. Its fingerprint is among the seen keys; only those of its
	// fields are set that a queue needs.
	OpPending Kind = 0x40
	// OpSeenKeys are fingerprints seen before the snapshot: Value holds the first
	// 8 bytes of each.
	OpSeenKeys Kind = 0x41
	// OpEmitted are words that [Snapshot.Emitted] took, 8 bytes each.
	OpEmitted Kind = 0x42
)

// The operations that this package handles itself.
const (
	opHeader   Kind = 0x01
	opFeed     Kind = 0x09
	opFeedName Kind = 0x0A
	opMark     Kind = 0x0B
	opFinished Kind = 0x0D
	opClose    Kind = 0x0E
	opEnd      Kind = 0x0F
	opIndex    Kind = 0x12
	opSegment  Kind = 0x13 // the records that follow are of another segment
	opReopened Kind = 0x14
	opSkip     Kind = 0x80 // this bit: may be skipped by who does not know it
)

// Op is one operation as read back from the journal. Only the fields of its
// kind are set. The byte slices are valid until the visit returns.
type Op struct {
	Kind        Kind
	Flags       uint8
	Addr        Addr
	Owner       Addr
	Priority    int64
	NotBefore   int64
	BodyLen     int
	Fingerprint [20]byte
	Slot        []byte
	Key         []byte
	Value       []byte
	Round       uint64
	N           uint64
}
