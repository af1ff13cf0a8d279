package referrer

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// maxTold bounds the bad names of policies that are warned of.
const maxTold = 100

// A Resolver knows which policy applies. It is safe for concurrent use.
type Resolver struct {
	names    map[string]Policy // what a header may say
	fallback Policy            // of REFERRER_POLICY
	log      zerolog.Logger

	mu   sync.Mutex
	told map[string]bool
}

// Enabled reports whether requests get a Referer at all.
func Enabled(env *crawl.Env) bool {
	return env.Settings.Bool("REFERER_ENABLED") &&
		slices.ContainsFunc(env.Settings.Components("SPIDER_MIDDLEWARES"), func(c settings.Component) bool { return c.Name == "referer" })
}

// New returns the resolver that REFERRER_POLICY and REFERRER_POLICIES ask for.
func New(env *crawl.Env) (*Resolver, error) {
	cfg := settings.Decode[struct {
		Policy   string         `setting:"REFERRER_POLICY"`
		Policies map[string]any `setting:"REFERRER_POLICIES"`
	}](env.Settings)
	r := &Resolver{names: map[string]Policy{}, log: env.Logger("referer"), told: map[string]bool{}}
	for name := range Policies.Names() {
		r.names[name], _ = Policies.Lookup(name)
	}
	r.names[""] = r.names[whenDowngrade]
	for _, name := range slices.Sorted(maps.Keys(cfg.Policies)) {
		target, ok := cfg.Policies[name].(string)
		if !ok { // null
			delete(r.names, strings.ToLower(name))
			continue
		}
		p, err := Policies.Lookup(target)
		if err != nil {
			return nil, env.Settings.Wrong("REFERRER_POLICIES", err)
		}
		r.names[strings.ToLower(name)] = p
	}
	if r.fallback = r.find(cfg.Policy, true); r.fallback == nil {
		_, err := Policies.Lookup(cfg.Policy)
		return nil, env.Settings.Wrong("REFERRER_POLICY", err)
	}
	return r, nil
}

// find returns the last policy of a list that is known, as browsers do, or nil.
// Class paths of Scrapy are for users, not for servers.
func (r *Resolver) find(list string, user bool) Policy {
	var found Policy
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if p, ok := r.names[strings.ToLower(name)]; ok {
			found = p
		} else if strings.Contains(name, ".") && user {
			if p, err := Policies.Lookup(name); err == nil {
				found = p
			}
		}
	}
	return found
}

// warn tells of a policy that nobody knows, once.
func (r *Resolver) warn(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.told[name] && len(r.told) < maxTold {
		r.told[name] = true
		r.log.Warn().Msgf("Could not load referrer policy %q", name)
	}
}

// Page returns where requests come from: the URL and the headers of a response.
func (r *Resolver) Page(url string, h http.Header) Page {
	p := Page{r: r, url: url, policy: r.fallback}
	if values, ok := h["Referrer-Policy"]; ok && len(values) > 0 {
		list := strings.Join(values, ",")
		if found := r.find(list, false); found != nil {
			p.policy = found
		} else {
			r.warn(list)
		}
	}
	return p
}

// A Page is what requests come from.
type Page struct {
	r      *Resolver
	url    string
	policy Policy
}

// Referer returns the value of the header for a request for a URL, "" for none.
// The policy is that of the request's options, else that of the page, else
// REFERRER_POLICY. One that is not known counts as REFERRER_POLICY.
func (p *Page) Referer(to string, o *crawl.Options) string {
	policy := p.policy
	if o.ReferrerPolicy != "" {
		if policy = p.r.find(o.ReferrerPolicy, true); policy == nil {
			p.r.warn(o.ReferrerPolicy)
			policy = p.r.fallback
		}
	}
	return policy(p.url, to)
}
