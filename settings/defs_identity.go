package settings

import "fmt"

// identityDefs are the settings of what tells a server who asks and where from:
// cookies, credentials, proxies, the Referer.
func identityDefs() []Def {
	return []Def{
		{Name: "COOKIES_ENABLED", Default: true, Help: "Whether cookies are kept and sent."},
		{
			Name: "COOKIES_PERSIST", Default: true,
			Help: "Whether the cookies are kept in JOBDIR, so that a job that goes on is still logged in.",
		},
		{Name: "COOKIES_DEBUG", Default: false, Help: "Whether the cookies of each request and response are logged, at the level DEBUG."},
		{Name: "HTTPAUTH_USER", Default: "", Help: "User name for Basic authentication."},
		{Name: "HTTPAUTH_PASS", Default: "", Secret: true, Help: "Password for Basic authentication."},
		{
			Name: "HTTPAUTH_DOMAIN", Default: "", Check: plainText,
			Help: "Domain that HTTPAUTH_USER and HTTPAUTH_PASS are sent to, with all below it. It has to be set with them; None is everywhere.",
		},
		{
			Name: "HTTPPROXY_ENABLED", Default: true,
			Help: "Whether the proxies of the environment are used: http_proxy and https_proxy, but for what no_proxy names.",
		},
		{
			Name: "HTTPPROXY_AUTH_ENCODING", Default: "latin-1", Choices: []string{"latin-1", "utf-8"},
			Aliases: map[string]string{"latin1": "latin-1", "iso-8859-1": "latin-1", "iso8859-1": "latin-1", "utf8": "utf-8"},
			Help:    "Encoding of user and password for a proxy.",
		},
		{Name: "REFERER_ENABLED", Default: true, Help: "Whether requests tell in the Referer header which page they come from."},
		{
			Name: "REFERRER_POLICY", Default: "scrapy-default", Check: plainText,
			Help: "Policy for the Referer of what a page without a Referrer-Policy header links to: scrapy-default, no-referrer, " +
				"no-referrer-when-downgrade, same-origin, origin, strict-origin, origin-when-cross-origin, " +
				"strict-origin-when-cross-origin or unsafe-url. Of several, separated by commas, the last known one counts.",
		},
		{
			Name: "REFERRER_POLICIES", Default: map[string]any{}, Check: policies,
			Help: "Names of policies that pages may use in Referrer-Policy, beside the usual ones: a JSON object from name to the " +
				"policy meant; null takes a name away.",
		},
		{
			Name: "URLLENGTH_LIMIT", Default: 2083, Check: count, ZeroIsOff: true,
			Help: "Longest URL that is followed, in bytes. 0 is no limit.",
		},
	}
}

func policies(v any) error {
	for name, target := range v.(map[string]any) {
		if _, text := target.(string); !text && target != nil {
			return want(fmt.Sprintf("for %q the name of a policy, or null", name))
		}
	}
	return nil
}
