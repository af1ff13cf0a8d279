package feeds

import (
	"errors"
	"os"
)

// Close ends the feeds, after the job is closed: it closes the files, puts those
// in place that replace others, and logs and counts each feed as stored or
// failed (feedexport/success_count and failed_count, by Scrapy's name of its
// storage). Clean tells that the crawl ended in good order and every item that
// was committed is in its feed; else all feeds count as failed. It returns what
// went wrong with the sinks.
func (s *Set) Close(clean bool) error {
	var errs []error
	for _, f := range s.feeds {
		if err := s.closeFeed(f, clean); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (s *Set) closeFeed(f *feed, clean bool) error {
	var err error
	if c, ok := f.sink.(Closer); ok {
		err = c.Close(clean)
	}
	items := f.items.Load()
	if clean && err == nil && f.form.SkipEmpty && !f.begun && items == 0 {
		return nil // there is no file to speak of
	}
	if clean && err == nil {
		s.log.Info().Msgf("Stored %s feed (%d items) in: %s", f.Format, items, f.URI)
		s.stats.Inc("feedexport/success_count/" + f.storage)
		return nil
	}
	s.log.Error().Err(err).Msgf("Error storing %s feed (%d items) in: %s", f.Format, items, f.URI)
	s.stats.Inc("feedexport/failed_count/" + f.storage)
	if o, ok := f.sink.(*Overwriter); ok && isThere(o.TempPath()) {
		s.log.Warn().Msgf("Left %s as it was; the items of this run are in: %s", f.URI, o.TempPath())
	}
	return err
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
