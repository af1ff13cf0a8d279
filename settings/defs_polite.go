package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// politeDefs are the settings that say how considerate the crawl is, beside the
// plain limits of a slot.
func politeDefs() []Def {
	return []Def{
		{
			Name: "ROBOTSTXT_OBEY", Default: false,
			Help: "Whether robots.txt is obeyed, by RFC 9309. The spider site and new projects set it.",
		},
		{
			Name: "ROBOTSTXT_USER_AGENT", Default: "", Check: plainText,
			Help: "Name by which robots.txt is asked. None takes the User-Agent of the request.",
		},
		{
			Name: "ROBOTSTXT_CRAWL_DELAY", Default: "observe", Choices: []string{"off", "observe", "enforce"},
			Help: "What the Crawl-delay and Request-rate of robots.txt do under ROBOTSTXT_OBEY: enforce lets the slot wait at least as long; " +
				"observe counts them, and logs those that ask for more than the slot waits.",
		},
		{
			Name: "ROBOTSTXT_MAX_CRAWL_DELAY", Default: 30 * time.Second, Check: aboveZero,
			Help: "Longest delay that ROBOTSTXT_CRAWL_DELAY=enforce takes from robots.txt, in seconds or as 1m.",
		},
		{
			Name: "DOWNLOAD_SLOTS", Default: map[string]any{}, Check: slots,
			Help: "Limits of single slots, such as {\"example.com\": {\"concurrency\": 1, \"delay\": 2, \"randomize_delay\": false}}; a delay may be 250ms too. " +
				"*.example.com stands for each slot below example.com; \"throttle\": false keeps AutoThrottle away from it.",
		},
		{
			Name: "AUTOTHROTTLE_ENABLED", Default: false,
			Help: "Whether the delay of each slot follows the time its server takes.",
		},
		{
			Name: "AUTOTHROTTLE_START_DELAY", Default: 5 * time.Second, ZeroIsOff: true,
			Help: "Delay of a slot at first, in seconds or as 250ms.",
		},
		{
			Name: "AUTOTHROTTLE_MAX_DELAY", Default: time.Minute, Check: aboveZero,
			Help: "Longest delay that AutoThrottle sets, in seconds or as 1m.",
		},
		{
			Name: "AUTOTHROTTLE_TARGET_CONCURRENCY", Default: 1.0, Check: positive,
			Help: "How many requests AutoThrottle wants to be in progress at each server, on average.",
		},
		{
			Name: "AUTOTHROTTLE_DEBUG", Default: false,
			Help: "Whether AutoThrottle logs a line for each response.",
		},
	}
}

func positive(v any) error {
	if v.(float64) <= 0 {
		return want(wantFloat + ", above zero")
	}
	return nil
}

// slots checks DOWNLOAD_SLOTS.
func slots(v any) error {
	given := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := CheckSlot(name); err != nil {
			return fmt.Errorf("%q is no slot: %w", name, err)
		}
		params, ok := given[name].(map[string]any)
		if !ok {
			return want(fmt.Sprintf(`for %s a JSON object such as {"concurrency": 1, "delay": 2}`, name))
		}
		for key, value := range params {
			if need := slotParam(key, value); need != "" {
				return fmt.Errorf("%s of %s: want %s", key, name, need)
			}
		}
	}
	return nil
}

// CheckSlot refuses what can be neither the name of a slot nor a pattern for some,
// as DOWNLOAD_SLOTS has them. The error says what would be right.
func CheckSlot(name string) error {
	domain, pattern := strings.CutPrefix(name, "*.")
	switch {
	case strings.Contains(domain, "*"), pattern && domain == "":
		return errors.New("only * in front of a domain, such as *.example.com, stands for others")
	case domain == "", strings.Contains(domain, "://"):
		return errors.New("want a host without scheme and path, such as example.com")
	}
	return nil
}

// slotParam returns what would be right for a value of a slot, "" if it is.
func slotParam(key string, value any) string {
	ok, need := false, ""
	switch key {
	case "concurrency":
		var n int
		n, ok = value.(int)
		ok, need = ok && n >= 1, "a count, at least 1"
	case "delay":
		_, err := asDuration(value)
		ok, need = err == nil, wantDuration
	case "randomize_delay", "throttle":
		_, ok = value.(bool)
		need = "true or false"
	default:
		need = "concurrency, delay, randomize_delay or throttle in its place"
	}
	if ok {
		return ""
	}
	return need
}
