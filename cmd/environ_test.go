package cmd

import (
	"slices"
	"testing"
)

func TestOwnEnviron(t *testing.T) {
	t.Parallel()
	foreign := []string{
		// What Kubernetes injects for a Service named crawl …
		"CRAWL_SERVICE_HOST=10.0.0.1", "CRAWL_SERVICE_PORT=80", "CRAWL_SERVICE_PORT_HTTP=80",
		"CRAWL_PORT=tcp://10.0.0.1:80", "CRAWL_PORT_80_TCP=tcp://10.0.0.1:80", "CRAWL_PORT_80_TCP_PROTO=tcp",
		"CRAWL_PORT_80_TCP_PORT=80", "CRAWL_PORT_80_TCP_ADDR=10.0.0.1", "CRAWL_PORT_53_UDP_ADDR=10.0.0.1",
		"CRAWL_PORT=", // … without a port
		// … and for one named crawl-redis.
		"CRAWL_REDIS_SERVICE_HOST=10.0.0.2", "CRAWL_REDIS_PORT=tcp://10.0.0.2:6379", "CRAWL_REDIS_PORT_6379_TCP=tcp://10.0.0.2:6379",
		"CRAWL_BIN=/usr/bin/crawl",
	}
	own := []string{
		"CRAWL_JOBDIR=x", "CRAWL_PORT=80", "CRAWL_TELNETCONSOLE_PORT=6023", "CRAWL_JOBDRI=x", "CRAWL_PORTS=1", "HOME=/root",
		"CRAWL_USER_AGENT=SERVICE_HOST=x", "",
	}
	if got := ownEnviron(slices.Concat(foreign, own)); !slices.Equal(got, own) {
		t.Errorf("got %q, want %q", got, own)
	}
}

func TestGetenv(t *testing.T) {
	t.Parallel()
	environ := []string{"GOGC=1", "GOGCX=2", "GOGC=50", "EMPTY=", "NAME"}
	for name, want := range map[string]string{"GOGC": "50", "EMPTY": "", "NAME": "", "GO": "", "MISSING": ""} {
		if got := getenv(environ, name); got != want {
			t.Errorf("getenv(%s) = %q, want %q", name, got, want)
		}
	}
}
