package cmd

import "regexp"

// foreign matches variables that begin like settings and are none. Kubernetes
// tells every pod about every Service of its namespace, so a Service named
// crawl, or crawl-something, puts CRAWL_SERVICE_HOST, CRAWL_PORT=tcp://… and
// more of the kind into the environment. CRAWL_BIN is how scripts around the
// binary commonly note where it is.
var foreign = regexp.MustCompile(`^CRAWL_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)=` +
	`|^CRAWL_([A-Z0-9_]+_)?PORT=((tcp|udp|sctp)://|$)` +
	`|^CRAWL_BIN=`)

// ownEnviron leaves the foreign variables out.
func ownEnviron(environ []string) []string {
	var own []string
	for _, kv := range environ {
		if !foreign.MatchString(kv) {
			own = append(own, kv)
		}
	}
	return own
}

// getenv returns a variable of a list in the form of os.Environ, or "". Of two
// entries the last counts, as in os/exec.
func getenv(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			value = kv[len(name)+1:]
		}
	}
	return value
}
