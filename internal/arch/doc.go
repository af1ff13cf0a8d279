// Package arch holds the architecture: its tests fail if a package imports what
// it must not know, and on a few more rules that no compiler checks.
package arch
