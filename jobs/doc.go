// Package jobs keeps a crawl in a directory so that it can be stopped, killed
// or lose its power and go on later: the lock, the manifest, the journal, and
// the committer that writes the bytes of the feeds and then the record that
// makes them count.
//
// # One step, one frame
//
// A crawl step is a transaction ([Tx]). All that it changes (this request is
// done, these are new, these bytes belong to that feed) becomes one frame of
// the journal, with one checksum. Recovery sees a frame whole or not at all,
// so a request is never both seen and lost, and an item is never in a feed
// twice or half.
//
// A commit goes through three stages. [Tx.Commit] puts the frame into a buffer
// (a kill loses it, with its whole step). Within [Options.FlushInterval] the
// feeds' bytes and then the frames are handed to the kernel (a kill loses
// nothing of them). Every [Options.SyncInterval] the feeds and then the
// journal are forced to the disk (a power cut loses nothing of them).
//
// # Sync marks, and what is a torn tail
//
// Between two syncs a power cut may lose any 4-KiB block: a bad frame followed
// by good ones is then normal. The same picture behind a finished sync is
// damage. Sync marks tell the two apart. A mark frame is written in the middle
// of a sync: after the feeds were synced and before the journal is. It cannot
// vouch for the frames just before it, which may be lost although the mark's
// own block survives. So each mark carries the sequence number up to which an
// earlier, finished sync had made the journal durable, and vouches for that
// only.
//
// Reading stops at the first bad frame. If any intact mark, before it or
// anywhere behind it, vouches for a higher sequence number than that of the
// last good frame, then the bad frame was once safely on the disk: the journal
// is damaged, and [Open] refuses it with a [DamageError]. To find marks behind
// the bad frame every byte offset of the rest of the file, and of later
// segments, is tried: a frame counts there if its length fits, its checksum
// holds, its sequence number is higher than the last good one, and all of its
// operations can be read. If no mark vouches for the bad frame, it and all
// behind it is the torn tail, which [Job.Recover] cuts off with a warning. The
// price is that damage inside the last sync interval before an unclean end
// looks like a torn tail. A clean close syncs twice and leaves only its own
// last frame without a voucher.
//
// # Snapshots
//
// A snapshot ([Job.Snapshot]) is the state after all frames before one place: which
// records of which segments are still needed, and what the job's owner says of the
// rest, as operations. Recovery reads it, the indexes of the segments that have
// ended, and the frames behind the place. A snapshot names its files, and none of
// these is changed before a newer one is on the disk: segments with few needed
// records are packed into new files, which only the next snapshot names. So every
// crash finds one whole set of files.
//
// # Feeds
//
// Each frame names the length of the feeds that it wrote to and the checksum
// of the bytes that it added; each mark names the synced length of every feed
// and the checksum of the 64 KiB before it. See [Feed] for the rules that
// follow from it at recovery.
//
// The format is described byte by byte in docs/job-directory.md.
package jobs
