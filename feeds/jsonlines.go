package feeds

// NewJSONLines returns the exporter of JSON Lines (https://jsonlines.org): one
// object a line, UTF-8. Neither letters beyond ASCII nor what HTML treats as
// special are escaped; times are ISO 8601.
//
// Items are structs, maps, pointers to them, and types that render themselves
// as an object: as JSON by [encoding/json.Marshaler], or, without its cost, by
//
//	AppendJSON(dst []byte) ([]byte, error)
func NewJSONLines(o ExporterOptions) (Exporter, error) {
	return &jsonLines{newObjects(o.Fields)}, nil
}

type jsonLines struct{ objects *objects }

var _ Exporter = (*jsonLines)(nil)

// AppendItem appends the item and a line feed.
func (e *jsonLines) AppendItem(dst []byte, item any) ([]byte, error) {
	line, err := e.objects.append(dst, item, "JSON")
	if err != nil {
		return dst, err
	}
	return append(line, '\n'), nil
}
