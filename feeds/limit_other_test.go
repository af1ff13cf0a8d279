//go:build !unix

package feeds_test

import "testing"

func runLimited(t *testing.T) { t.Skip("there are no limits on the size of files here") }

func limitFileSize(*testing.T, uint64) {}
