package crawl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Stored is what the stored form of a request tells without the spider that the
// request belongs to.
type Stored struct {
	URL        string
	Method     string          // never empty
	Body       []byte          // nil for none
	Callback   string          // name of the spider's method; "" for its Parse
	Errback    string          // the same; "" for none
	Args       json.RawMessage // what the callback is called with; nil for nothing
	Priority   int
	DontFilter bool
	NotBefore  time.Time // zero for at once
	Trail      Trail
}

// ReadStored reads what [Callbacks.AppendRequest] wrote as far as that needs no
// spider; see [Callbacks.DecodeRequest] for all of it.
func ReadStored(b []byte) (Stored, error) {
	var h recordHead
	if err := json.Unmarshal(b, &h); err != nil {
		return Stored{}, fmt.Errorf("read a stored request: %w", err)
	}
	return Stored{
		URL: h.URL, Method: cmp.Or(h.Method, http.MethodGet), Body: h.Body, Callback: h.Callback, Errback: h.Errback, Args: h.Args,
		Priority: h.Priority, DontFilter: h.DontFilter, NotBefore: h.notBefore(), Trail: h.trail(),
	}, nil
}

// RenewStored returns a stored request as if it had never been tried: without
// retries, and with no time to wait for. All else stays byte for byte, so that
// also what this program does not know is kept.
func RenewStored(b []byte) ([]byte, error) {
	fresh, err := renew(b)
	if err != nil {
		return nil, fmt.Errorf("read a stored request: %w", err)
	}
	return fresh, nil
}

// renew copies an object but for the fields that tell of tries. The trail is an
// object of the same kind.
func renew(b []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, cmp.Or(err, fmt.Errorf("it is no object: %.20q", b))
	}
	dst := append(make([]byte, 0, len(b)), '{')
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err := cmp.Or(err, d.Decode(&value)); err != nil {
			return nil, err
		}
		if dst, err = appendRenewed(dst, key.(string), value); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

func appendRenewed(dst []byte, key string, value json.RawMessage) ([]byte, error) {
	switch key {
	case "retries", "not_before":
		return dst, nil
	case "trail":
		var err error
		if value, err = renew(value); err != nil {
			return dst, err
		}
	}
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	return append(append(appendString(dst, key), ':'), value...), nil
}
