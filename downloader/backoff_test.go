package downloader

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeincrawl/skein/crawl"
)

// scrapy/scrapy#3849, apify/crawlee-python#1995.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		date := func(d time.Duration) string { return now.Add(d).UTC().Format(http.TimeFormat) }
		for _, tt := range []struct {
			after, date string
			status      int
			want        time.Duration // -1 for none
		}{
			{"7", "", 429, 7 * time.Second},
			{" 7 ", "", 503, 7 * time.Second},
			{"0", "", 429, 0},
			{"-5", "", 429, -1},
			{"1.5", "", 429, -1},
			{"soon", "", 429, -1},
			{"", "", 429, -1},
			{"7200", "", 429, time.Hour},
			{"99999999999999999999", "", 429, time.Hour},
			{date(time.Minute), "", 429, time.Minute},
			{date(-time.Minute), "", 429, 0},
			{date(48 * time.Hour), "", 429, time.Hour},
			{date(25 * time.Hour), date(25*time.Hour - time.Minute), 503, time.Minute},
			{"7", "", 200, -1},
			{"7", "", 301, -1},
		} {
			r := &crawl.Response{Status: tt.status, Header: http.Header{"Retry-After": {tt.after}, "Date": {tt.date}}}
			got, ok := BackOff(r)
			if ok != (tt.want >= 0) || ok && got.Sub(now) != tt.want {
				t.Errorf("%d Retry-After %q: %v, %v, want %v", tt.status, tt.after, got.Sub(now), ok, tt.want)
			}
		}
	})
}

func FuzzBackOff(f *testing.F) {
	for _, s := range []string{"7", "-5", "Wed, 21 Oct 2015 07:28:00 GMT", "9999999999"} {
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, after, date string) {
		before := time.Now()
		r := &crawl.Response{Status: 429, Header: http.Header{"Retry-After": {after}, "Date": {date}}}
		if at, ok := BackOff(r); ok && (at.Before(before) || at.After(time.Now().Add(maxBackOff))) {
			t.Errorf("Retry-After %q, Date %q: %v", after, date, at)
		}
	})
}
