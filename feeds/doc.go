// Package feeds turns items into bytes and keeps the files that the bytes go
// to. An [Exporter] renders items in a format; the sinks [File], [Overwriter]
// and [Stdout] are where the job writes them; a [Set] holds the feeds of one
// crawl.
//
// Rendering and writing are apart on purpose. Workers render the items of a
// step into buffers, side by side; the job appends the buffers to the sinks in
// the order in which it commits the steps. So a step's items are in the feeds
// all together or not at all.
package feeds
