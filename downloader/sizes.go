package downloader

import (
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
)

// sizes are the limits of bodies, in bytes. 0 is none.
type sizes struct {
	max, warn int64
	log       zerolog.Logger
}

// limit returns the largest size of the body for a request, 0 if there is none.
func (s sizes) limit(r *crawl.Request) int64 {
	if r.Options.MaxSize != 0 {
		return max(r.Options.MaxSize, 0)
	}
	return s.max
}

func (s sizes) tooLarge(r *crawl.Request, what string, size int64) error {
	text := fmt.Sprintf("%s %d bytes which is larger than download max size (%d) in request %v.", what, size, s.limit(r), r)
	s.log.Warn().Msg(text)
	return TooLarge(errors.New(text))
}

// check warns of a large body.
func (s sizes) check(r *crawl.Request, what string, size int64) {
	if s.warn > 0 && size > s.warn {
		s.log.Warn().Msgf("%s %d bytes which is larger than download warn size (%d) in request %v.", what, size, s.warn, r)
	}
}
