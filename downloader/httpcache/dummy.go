package httpcache

import (
	"slices"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/internal/weburl"
	"github.com/skeincrawl/skein/settings"
)

func init() { Policies.Register("dummy", newDummy) }

// newDummy returns the policy that stores everything, and for which what is
// stored is fresh for ever: to work on a spider without its site.
func newDummy(env *crawl.Env) (Policy, error) {
	p := settings.Decode[dummy](env.Settings)
	return &p, nil
}

type dummy struct {
	Schemes  []string `setting:"HTTPCACHE_IGNORE_SCHEMES"`
	Statuses []int    `setting:"HTTPCACHE_IGNORE_HTTP_CODES"`
}

var _ Policy = (*dummy)(nil)

func (p *dummy) Admits(r *crawl.Request) bool {
	return !slices.Contains(p.Schemes, weburl.Scheme(r.URL))
}

func (p *dummy) Storable(_ *crawl.Request, resp *crawl.Response) bool {
	return !slices.Contains(p.Statuses, resp.Status)
}

func (p *dummy) Fresh(*crawl.Request, *Stored) bool { return true }
