package settings

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

const wantTitles = `a list such as name,price, ["name", "price=Price in EUR"], or a JSON object such as {"name": "Name"}`

// asTitles reads a list of names, some with a title. Only the text of an object
// has an order: a map from a file or from code may have one entry at most.
func asTitles(raw any) (any, error) {
	switch v := raw.(type) {
	case map[string]any:
		if len(v) > 1 {
			return nil, want(`a list such as ["name=Name", "price"]: an object has no order here`)
		}
		out := []string{}
		for name, title := range v {
			text, ok := title.(string)
			if !ok {
				return nil, want(wantTitles)
			}
			out = append(out, name+"="+text)
		}
		return out, nil
	case string:
		if text := strings.TrimSpace(v); strings.HasPrefix(text, "{") {
			return parseTitles(text)
		}
	}
	list, err := asTexts(raw)
	if err != nil {
		return nil, want(wantTitles)
	}
	return list, nil
}

func parseTitles(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	out := []string{}
	_, err := dec.Token() // the brace
	for err == nil && dec.More() {
		var name json.Token
		var title string
		if name, err = dec.Token(); err == nil {
			err = dec.Decode(&title)
		}
		if err == nil {
			out = append(out, name.(string)+"="+title)
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	if _, end := dec.Token(); err != nil || !errors.Is(end, io.EOF) {
		return nil, want(wantTitles)
	}
	return out, nil
}
