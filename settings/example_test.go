package settings_test

import (
	"fmt"
	"time"

	"github.com/skeincrawl/skein/settings"
)

func Example() {
	s, warnings, err := settings.NewRegistry().Builder().
		Spider("quotes", map[string]any{"DOWNLOAD_DELAY": 2, "CONCURRENT_REQUESTS": 4, "MEMDEBUG_ENABLED": true}).
		Environ([]string{"HOME=/root", "CRAWL_DOWNLOAD_DELAY=1"}).
		Assign("DOWNLOAD_DELAY=0.25").
		Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range warnings {
		fmt.Println("warning:", w)
	}
	for _, name := range []string{"CONCURRENT_REQUESTS", "DOWNLOAD_DELAY", "LOG_LEVEL"} {
		v, _ := s.Lookup(name)
		fmt.Printf("%s=%s from %s\n", name, v, v.Source)
	}
	// Output:
	// warning: MEMDEBUG_ENABLED="True" (spider quotes): there are no Python objects to count
	// CONCURRENT_REQUESTS=4 from spider quotes
	// DOWNLOAD_DELAY=250ms from -s DOWNLOAD_DELAY
	// LOG_LEVEL=INFO from default
}

func ExampleBuilder_Build_errors() {
	_, _, err := settings.NewRegistry().Builder().
		Environ([]string{"CRAWL_JOBDRI=crawls/x"}).
		Assign("DOWNLOAD_DELAY=fast").
		Build()
	fmt.Println(err)
	// Output:
	// DOWNLOAD_DELAY="fast" (-s DOWNLOAD_DELAY): want seconds such as 0.25 or a duration such as 250ms
	// JOBDRI (CRAWL_JOBDRI): there is no such setting; did you mean JOBDIR?
}

func ExampleDecode() {
	type config struct {
		Delay     time.Duration `setting:"DOWNLOAD_DELAY"`
		Randomize bool          `setting:"RANDOMIZE_DOWNLOAD_DELAY"`
	}
	s, _, err := settings.NewRegistry().Builder().Assign("DOWNLOAD_DELAY=1").Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", settings.Decode[config](s))
	// Output: {Delay:1s Randomize:true}
}
