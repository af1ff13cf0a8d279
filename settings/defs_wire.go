package settings

import (
	"regexp"
	"time"
)

// wireDefs are the settings of what lies below a request: the handlers of
// schemes, names and addresses, TLS, FTP.
func wireDefs() []Def {
	const version = " TLSv1.0, TLSv1.1, TLSv1.2 or TLSv1.3."
	versions := []string{"", "TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"}
	return []Def{
		{
			Name: "DOWNLOAD_HANDLERS", Default: map[string]any{}, Check: handlers,
			Help: "Download handlers by the scheme of URLs, beside the built-in ones. A JSON object from scheme to the name of a " +
				"handler; null switches a scheme off.",
		},
		{
			Name: "DOWNLOAD_HANDLERS_BASE", Check: handlers,
			Default: map[string]any{"data": "data", "file": "file", "ftp": "ftp", "http": "http", "https": "http"},
			Help:    "The built-in download handlers; change DOWNLOAD_HANDLERS instead.",
		},
		{
			Name: "DOWNLOAD_BIND_ADDRESS", Default: "", Check: plainText,
			Help: "Address of this machine that connections leave from, such as 192.0.2.7, or with a port 192.0.2.7:4000. " +
				"None leaves it to the system.",
		},
		{
			Name: "DENY_PRIVATE_NETWORKS", Default: false,
			Help: "Whether requests to addresses outside the public internet are refused: of this machine, of private networks, " +
				"of the metadata services of clouds. It is checked on the address that a connection goes to.",
		},
		{Name: "DNSCACHE_ENABLED", Default: true, Help: "Whether the addresses of hosts are kept, for five minutes."},
		{
			Name: "DNSCACHE_SIZE", Default: 10000, Check: atLeast(1, "a count"),
			Help: "How many hosts the addresses are kept of.",
		},
		{
			Name: "DNS_TIMEOUT", Default: 60 * time.Second, Check: aboveZero,
			Help: "How long the lookup of a host's addresses may take, in seconds or as 1m.",
		},
		{
			Name: "DOWNLOAD_VERIFY_CERTIFICATES", Default: true,
			Help: "Whether a server with an invalid TLS certificate is refused.",
		},
		{
			Name: "DOWNLOAD_TLS_MIN_VERSION", Default: "", Choices: versions,
			Help: "Lowest version of TLS:" + version + " None is TLSv1.2, or DOWNLOAD_TLS_MAX_VERSION if that is lower.",
		},
		{
			Name: "DOWNLOAD_TLS_MAX_VERSION", Default: "", Choices: versions,
			Help: "Highest version of TLS:" + version + " None is the highest there is.",
		},
		{
			Name: "DOWNLOADER_CLIENT_TLS_METHOD", Default: "TLS", Choices: append([]string{"TLS"}, versions[1:]...),
			Help: "The only version of TLS:" + version + " TLS leaves it to DOWNLOAD_TLS_MIN_VERSION and DOWNLOAD_TLS_MAX_VERSION, and is all " +
				"that may be said beside them.",
		},
		{
			Name: "DOWNLOADER_CLIENT_TLS_CIPHERS", Default: "DEFAULT", Check: plainText,
			Help: "Ciphers for TLS up to 1.2, by the names of OpenSSL with colons between them. DEFAULT and None are those of Go, " +
				"which also chooses those of TLS 1.3.",
		},
		{
			Name: "DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING", Default: false,
			Help: "Whether version, cipher and certificate of TLS connections are logged, at the level DEBUG.",
		},
		{
			Name: "FTP_PASSIVE_MODE", Default: true,
			Help: "Whether the data connections of ftp are opened by the crawl. False lets the server open them, which needs an " +
				"address of this machine that it can reach.",
		},
		{Name: "FTP_USER", Default: "anonymous", Check: plainText, Help: "User name for ftp URLs that have none."},
		{Name: "FTP_PASSWORD", Default: "guest", Secret: true, Check: plainText, Help: "Password that goes with FTP_USER."},
	}
}

func handlers(v any) error {
	scheme := regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	for key, value := range v.(map[string]any) {
		if name, text := value.(string); !scheme.MatchString(key) || value != nil && (!text || name == "") {
			return want(`schemes in small letters and the names of their handlers, such as {"ftp": null, "s3": "s3"}`)
		}
	}
	return nil
}
