package settings

import (
	"fmt"
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
			Help: "Limits of single slots, such as {\"example.com\": {\"concurrency\": 1, \"delay\": 2, \"randomize_delay\": false}}. " +
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
	for name, raw := range v.(map[string]any) {
		if domain, pattern := strings.CutPrefix(name, "*."); strings.Contains(domain, "*") || pattern && domain == "" {
			return fmt.Errorf("%q is no slot: only * in front of a domain, such as *.example.com, stands for others", name)
		}
		params, ok := raw.(map[string]any)
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

// slotParam returns what would be right for a value of a slot, "" if it is.
func slotParam(key string, value any) string {
	ok, need := false, ""
	switch key {
	case "concurrency":
		var n int
		n, ok = value.(int)
		ok, need = ok && n >= 1, "a count, at least 1"
	case "delay":
		ok, need = isDelay(value), "a number of seconds such as 0.25"
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

// isDelay reports whether a JSON value is a delay in seconds.
func isDelay(value any) bool {
	if n, ok := value.(int); ok {
		value = float64(n)
	}
	f, ok := value.(float64)
	if !ok {
		return false
	}
	_, ok = seconds(f)
	return ok
}
