// Package docs holds the tests of the documentation: every block of Go in it is
// compiled, and every command line is run against a local site.
package docs
