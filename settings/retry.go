package settings

import (
	"fmt"
	"slices"
	"strings"
)

// retryErrors checks RETRY_EXCEPTIONS.
func retryErrors(v any) error {
	kinds := []string{"timeout", "dns", "refused", "connection", "protocol", "tls", "denied", "data loss", "too large", "unsupported"}
	names := []string{
		"CannotResolveHostError", "DownloadConnectionRefusedError", "DownloadTimeoutError", "DownloadFailedError",
		"DownloadCancelledError", "ResponseDataLossError", "UnsupportedURLSchemeError",
	}
	for _, name := range v.([]string) {
		short := strings.TrimPrefix(name, "scrapy.exceptions.")
		pkg, typ, isType := strings.Cut(name, ".")
		if !slices.Contains(kinds, name) && !slices.Contains(names, short) && (!isType || pkg == "" || typ == "" || strings.Contains(typ, ".")) {
			return fmt.Errorf("%q is no error: want %s, a name of Scrapy such as DownloadTimeoutError, or a type such as mypackage.BusyError",
				name, strings.Join(kinds, ", "))
		}
	}
	return nil
}
