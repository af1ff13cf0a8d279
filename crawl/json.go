package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// NewJSON returns a POST of a value as JSON; keys of maps are in order. It asks
// for JSON back. The error is that of a value which JSON can not hold.
func NewJSON(url string, v any) (*Request, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the body of a request to %s: %w", url, err)
	}
	return &Request{
		URL: url, Method: http.MethodPost, Body: bytes.TrimSuffix(body.Bytes(), []byte("\n")),
		Header: http.Header{
			"Content-Type": {"application/json"},
			"Accept":       {"application/json, text/javascript, */*; q=0.01"},
		},
	}, nil
}
