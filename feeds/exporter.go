package feeds

import "github.com/skeincrawl/skein/crawl"

// An Exporter renders items in one format. It is safe for concurrent use, never
// blocks, and keeps neither the item nor dst.
type Exporter interface {
	// AppendItem appends the whole item to dst and returns the extended slice.
	// After an error nothing was appended: it returns dst as it was. The error
	// names the type of an item that the format can not hold.
	AppendItem(dst []byte, item any) ([]byte, error)
}

// Exporters holds the constructors of the feed formats by name. A name is also
// the file extension that stands for the format.
var Exporters = crawl.NewRegistry[func() (Exporter, error)]("feed format") //nolint:gochecknoglobals // a registry

func init() {
	for _, name := range []string{"jsonlines", "jsonl", "jl"} {
		Exporters.Register(name, NewJSONLines)
	}
}
