//go:build !unix

package feeds

import "os"

// mayWrite knows nothing here: the first write will tell.
func mayWrite(string, bool) error { return nil }

// syncDir does nothing: a directory can not be synced here.
func syncDir(string) error { return nil }

// lockFile does nothing here.
func lockFile(*os.File) error { return nil }
