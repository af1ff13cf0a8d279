package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skeincrawl/skein/crawl"
)

const stateFile = "spider.state"

// NewSpiderState writes the spider's state as JSON to spider.state in the job
// directory when a run ends in good order. The file is for people: the journal
// has the state of every step, and a run that resumes reads it there. It does
// nothing without JOBDIR, and for a spider that is no [crawl.Stater].
func NewSpiderState(env *crawl.Env) (Extension, error) {
	sp, ok := env.Spider.(crawl.Stater)
	if !ok || env.JobDir == "" {
		return nil, nil
	}
	crawl.On(env.Signals, func(_ context.Context, e crawl.SpiderClosed) error {
		if e.Reason == "frontier_error" { // the journal may know less
			return nil
		}
		return writeState(env.JobDir, sp.State())
	})
	return nil, nil
}

// writeState replaces the file as a whole.
func writeState(dir string, state any) error {
	b, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", stateFile, err)
	}
	name := filepath.Join(dir, stateFile)
	err = os.WriteFile(name+".tmp", append(b, '\n'), 0o600)
	if err == nil {
		err = os.Rename(name+".tmp", name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", stateFile, errors.Join(err, ignoreMissing(os.Remove(name+".tmp"))))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
