// Package docs holds the tests of the documentation: every block of Go in it is
// compiled, every command line is run against a local site, the tutorial is
// worked through from an empty folder, docs/settings.md is compared with the
// table of settings, docs/signals.md with the comments of the signals, and
// docs/guarantees.md and docs/conformance.md with the tests that there are.
package docs
