// Package engine runs a crawl: it assembles the components that the settings
// name, drives the frontier, hands leases to workers and their outcomes back,
// detects the end, and stops in good order.
//
//	e, err := engine.New(engine.Options{Spec: spec, Settings: s, Log: log})
//	if err != nil { … }
//	result, err := e.Run(ctx) // until nothing is left, or ctx is done
//
// Run may be called once. The engine installs no signal handlers and writes to
// no standard stream but through its options.
package engine
