package downloader

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// TLSConfig is what connections over TLS take from the settings.
type TLSConfig struct {
	// Verify refuses servers whose certificate is not valid.
	Verify bool `setting:"DOWNLOAD_VERIFY_CERTIFICATES"`

	// Min and Max bound the version, "TLSv1.0" to "TLSv1.3". "" leaves Min to Go,
	// or is Max if that is lower, and Max to Go.
	Min string `setting:"DOWNLOAD_TLS_MIN_VERSION"`
	Max string `setting:"DOWNLOAD_TLS_MAX_VERSION"`

	// Method is the only version there is, in place of Min and Max, which are not
	// set then. "" and "TLS" are all versions.
	Method string `setting:"DOWNLOADER_CLIENT_TLS_METHOD"`

	// Ciphers are those for versions up to 1.2, by the names of OpenSSL with colons
	// between them. "" and "DEFAULT" leave them to Go.
	Ciphers string `setting:"DOWNLOADER_CLIENT_TLS_CIPHERS"`

	// Verbose logs what each connection agreed on.
	Verbose bool `setting:"DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING"`

	// Log takes these lines. The zero value is silent.
	Log zerolog.Logger
}

// NewTLS returns the configuration of connections over TLS that the settings ask
// for. An error names the setting, its value and what would be right.
func NewTLS(cfg TLSConfig) (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: !cfg.Verify} //nolint:gosec // the user asked for it.
	var errs [2]error
	c.MinVersion, c.MaxVersion, errs[0] = cfg.versions()
	c.CipherSuites, errs[1] = ciphers(cfg.Ciphers)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if cfg.Verbose {
		c.VerifyConnection = func(s tls.ConnectionState) error {
			logTLS(cfg.Log, s)
			return nil
		}
	}
	return c, nil
}

// tlsFromSettings returns the configuration that a crawl's settings ask for.
func tlsFromSettings(env *crawl.Env) (*tls.Config, error) {
	cfg := settings.Decode[TLSConfig](env.Settings)
	cfg.Log = env.Logger("downloader")
	return NewTLS(cfg)
}

// versions returns the lowest and the highest version; 0 leaves one to Go.
func (cfg TLSConfig) versions() (low, high uint16, err error) {
	var only uint16
	var errs [3]error
	low, errs[0] = tlsVersion("DOWNLOAD_TLS_MIN_VERSION", cfg.Min)
	high, errs[1] = tlsVersion("DOWNLOAD_TLS_MAX_VERSION", cfg.Max)
	if !strings.EqualFold(cfg.Method, "TLS") {
		only, errs[2] = tlsVersion("DOWNLOADER_CLIENT_TLS_METHOD", cfg.Method)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return 0, 0, err
	}
	switch {
	case only != 0 && low == 0 && high == 0:
		return only, only, nil
	case only != 0:
		return 0, 0, fmt.Errorf("DOWNLOADER_CLIENT_TLS_METHOD=%q: want TLS beside DOWNLOAD_TLS_MIN_VERSION and DOWNLOAD_TLS_MAX_VERSION, which say what is wanted", cfg.Method)
	case low == 0 && high != 0:
		low = min(high, tls.VersionTLS12)
	case high != 0 && low > high:
		return 0, 0, fmt.Errorf("DOWNLOAD_TLS_MIN_VERSION=%q: want a version up to DOWNLOAD_TLS_MAX_VERSION, which is %s", cfg.Min, cfg.Max)
	}
	return low, high, nil
}

func tlsVersion(setting, name string) (uint16, error) {
	if name == "" {
		return 0, nil
	}
	for v := uint16(tls.VersionTLS10); v <= tls.VersionTLS13; v++ {
		if strings.EqualFold(name, strings.Replace(tls.VersionName(v), "TLS ", "TLSv", 1)) {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%s=%q: want TLSv1.0, TLSv1.1, TLSv1.2 or TLSv1.3", setting, name)
}

// ciphers reads a list of ciphers; nil leaves them to Go.
func ciphers(text string) ([]uint16, error) {
	if text == "" || text == "DEFAULT" {
		return nil, nil
	}
	known := map[string]uint16{}
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if suite.SupportedVersions[0] < tls.VersionTLS13 { // those of 1.3 can not be chosen
			known[openSSLName(suite.Name)] = suite.ID
		}
	}
	var ids []uint16
	for name := range strings.SplitSeq(text, ":") {
		id, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("DOWNLOADER_CLIENT_TLS_CIPHERS=%q: there is no cipher %q in Go: want DEFAULT, or some of %s with colons between them",
				text, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// openSSLName turns the standard name of a cipher into that of OpenSSL, such as
// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 into ECDHE-RSA-AES128-GCM-SHA256.
func openSSLName(standard string) string {
	return strings.NewReplacer(
		"TLS_RSA_WITH_", "", "TLS_", "", "WITH_", "", "3DES_EDE_CBC", "DES-CBC3", "AES_128_CBC_", "AES128-", "AES_256_CBC_", "AES256-",
		"AES_128", "AES128", "AES_256", "AES256", "RC4_128", "RC4", "CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305", "_", "-",
	).Replace(standard)
}

// logTLS logs what a connection agreed on, in the words of Scrapy.
func logTLS(log zerolog.Logger, s tls.ConnectionState) {
	log.Debug().Msgf("SSL connection to %s using protocol %s, cipher %s", cmp.Or(s.ServerName, "an address"), tls.VersionName(s.Version), tls.CipherSuiteName(s.CipherSuite))
	if len(s.PeerCertificates) > 0 {
		leaf := s.PeerCertificates[0]
		log.Debug().Msgf("SSL connection certificate: issuer %q, subject %q", leaf.Issuer, leaf.Subject)
	}
	if s.CurveID != 0 {
		log.Debug().Msgf("SSL temp key: %v", s.CurveID)
	}
}
