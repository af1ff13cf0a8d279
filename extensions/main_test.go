package extensions

import (
	"bytes"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testEnv returns an environment with settings given as NAME=VALUE.
func testEnv(t *testing.T, assign ...string) (*crawl.Env, *bytes.Buffer) {
	t.Helper()
	b := settings.New()
	for _, a := range assign {
		b.Assign(a)
	}
	set, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	return &crawl.Env{
		Settings: set, Stats: crawl.NewStats(), Signals: &crawl.Signals{}, Log: zerolog.New(&log),
		CloseSpider: func(string) {},
	}, &log
}

func send[E any](t *testing.T, env *crawl.Env, event E) {
	t.Helper()
	if err := crawl.Send(t.Context(), env.Signals, event); err != nil {
		t.Fatalf("send %T: %v", event, err)
	}
}

// build makes a registered extension.
func build(t *testing.T, name string, env *crawl.Env) Extension {
	t.Helper()
	construct, err := Registry.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	ext, err := construct(env)
	if err != nil {
		t.Fatalf("build %s: %v", name, err)
	}
	return ext
}

// Every extension that the settings name is registered.
func TestRegistryHoldsTheDefaults(t *testing.T) {
	t.Parallel()
	env, _ := testEnv(t)
	for _, c := range env.Settings.Components("EXTENSIONS") {
		build(t, c.Name, env)
	}
}
