package crawl

// Values is a state of free form, as spider.state is in Scrapy: a spider that
// wants no type of its own for its state has a field of this type and returns a
// pointer to it from State; the engine makes the map. Its values are of the kinds
// that [Request.Meta] holds, and after each step they are as Meta gives them back:
// integers as int, other numbers as float64, lists as []any, maps as
// map[string]any, times with their offset from UTC. A change that puts anything
// else into it is an error of the step, which names the key.
type Values map[string]any

// MarshalJSON writes the values as they are stored: a time as an object with the
// one member $time.
func (v Values) MarshalJSON() ([]byte, error) { return appendMap(nil, "Values", v) }

// UnmarshalJSON puts what MarshalJSON wrote in place of the values.
func (v *Values) UnmarshalJSON(b []byte) error {
	m, err := decodeMeta(b)
	if err != nil {
		return err
	}
	if m == nil { // null
		m = Values{}
	}
	*v = m
	return nil
}
