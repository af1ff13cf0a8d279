package scheduler

import "github.com/skeincrawl/skein/crawl"

// A Fingerprinter computes the fingerprint of a request, whose URL is absolute
// and as it goes on the wire. Requests that ask for the same get the same, in
// every run of a job: its name is kept with the job, and another is refused.
//
// It is called by many goroutines at once, while requests are emitted, and must
// neither block nor change the request. An error, or a panic, is one of the
// callback that emits; in Start it ends the crawl with the reason "shutdown".
type Fingerprinter func(r *crawl.Request) (Fingerprint, error)

// Fingerprinters is the registry behind REQUEST_FINGERPRINTER_CLASS.
var Fingerprinters = crawl.NewRegistry[func(*crawl.Env) (Fingerprinter, error)]("request fingerprinter").For("REQUEST_FINGERPRINTER_CLASS") //nolint:gochecknoglobals // a registry.

func init() {
	Fingerprinters.Register(FingerprinterName, func(*crawl.Env) (Fingerprinter, error) {
		return func(r *crawl.Request) (Fingerprint, error) { return FingerprintOf(r.Verb(), r.URL, r.Body), nil }, nil
	})
}
