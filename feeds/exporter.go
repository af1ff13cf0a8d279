package feeds

import (
	"io"

	"github.com/skeincrawl/skein/crawl"
)

// An Exporter renders items in one format. It is safe for concurrent use, never
// blocks, and keeps neither the item nor dst. What stands around the items is
// the business of a [Framer].
type Exporter interface {
	// AppendItem appends the whole item to dst and returns the extended slice.
	// After an error nothing was appended: it returns dst as it was. The error
	// names the type of an item that the format can not hold.
	AppendItem(dst []byte, item any) ([]byte, error)
}

// A Framer is an [Exporter] whose feeds are more than items one after the other.
// Its methods may be called beside AppendItem. What they return is not changed.
type Framer interface {
	// Head returns what begins a feed. It is asked once the first item is
	// rendered, or at the end of a feed without items.
	Head() []byte
	// Separator returns what stands between two items.
	Separator() []byte
	// Tail returns what ends a feed, after items or after the head alone. Of a
	// format without tail a feed without items is empty.
	Tail() []byte
}

// An Opener is an [Exporter] that has to know what a feed begins with to go on
// in it.
type Opener interface {
	// Open reads a feed of size bytes, more than none, that items will be added
	// to. It is called before the first item is rendered, perhaps twice. The
	// error says why nothing can be added.
	Open(r io.ReaderAt, size int64) error
}

// A Continuer is an [Exporter] whose feeds have an end that must be cut off
// before more items are added.
type Continuer interface {
	// Continue looks at a feed of size bytes, more than none, and returns the
	// length at which items go on, at most size. Zero starts the feed anew. The
	// error says why nothing can be added. It may be called at any time.
	Continue(r io.ReaderAt, size int64) (int64, error)
}

// ExporterOptions are what an exporter is made with.
type ExporterOptions struct {
	// Fields are the fields to render, in this order; none for all.
	Fields []Field

	// Indent is how a format with nesting lays items out: 0 for one item a line,
	// more for that many spaces a level, [Compact] for no line feeds at all. A
	// format without a choice has no use for it.
	Indent int

	// Dropped is told of the fields of an item for which a format with fixed
	// columns has no place. It must be safe for concurrent use. It may be nil.
	Dropped func(fields []string)
}

// Compact is the indent of a feed without line feeds.
const Compact = -1

// A Field is a field of items as a feed shows it.
type Field struct {
	Name  string // of the field, as in JSON
	Title string // what the feed calls it
}

// Exporters holds the constructors of the feed formats by name. A name is also
// the file extension that stands for the format.
var Exporters = crawl.NewRegistry[func(ExporterOptions) (Exporter, error)]("feed format") //nolint:gochecknoglobals // a registry

func init() {
	for _, name := range []string{"jsonlines", "jsonl", "jl"} {
		Exporters.Register(name, NewJSONLines)
	}
	Exporters.Register("json", NewJSON)
	Exporters.Register("csv", NewCSV)
}
