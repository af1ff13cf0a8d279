package conformance

import (
	"encoding/json"
	"fmt"
	"os"
)

// A Family is the outcome of one file of vectors, a line of a report.
type Family struct {
	Name   string    `json:"family"`
	Passed int       `json:"passed"`
	Total  int       `json:"total"`
	Failed []Failure `json:"failed,omitempty"`
}

// A Failure is a row that is not passed: what came and what was wanted, and the
// reason if it is a known one.
type Failure struct {
	ID     string `json:"id"`
	Why    string `json:"why"`
	Reason string `json:"reason,omitempty"`
}

// appendTo appends the family to a report. Several processes may append at once:
// each line is one write.
func (f Family) appendTo(path string) (err error) {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("write the report of %s: %w", f.Name, err)
	}
	if _, err = out.Write(append(line, '\n')); err != nil {
		_ = out.Close()
		return fmt.Errorf("write the report of %s: %w", f.Name, err)
	}
	return out.Close()
}
