// Package demo is a small web site to try a crawler on: pages of quotes with
// links to the next, their authors, a login, a corner of pages that are slow or
// fail, robots.txt and a sitemap. All of it is made here: nothing is fetched,
// and nobody is bothered.
package demo
