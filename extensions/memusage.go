package extensions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/rs/zerolog"

	"github.com/skeincrawl/skein/crawl"
	"github.com/skeincrawl/skein/settings"
)

// NewMemUsage watches the resident memory of the process (Scrapy's
// MemoryUsage), every MEMUSAGE_CHECK_INTERVAL_SECONDS and at the end. It notes
// memusage/startup, memusage/current and the peak, memusage/max, in bytes. Above
// MEMUSAGE_WARNING_MB it warns once; above MEMUSAGE_LIMIT_MB it closes the crawl
// with the reason memusage_exceeded. There is no mail.
//
// A peak counts for the limits only if it was reached during this crawl: a
// program may have had another one before. On a system that does not tell its
// memory the extension is off, and a limit is an error.
func NewMemUsage(env *crawl.Env) (Extension, error) {
	cfg := settings.Decode[memConfig](env.Settings)
	if !cfg.Enabled {
		return nil, nil
	}
	if _, err := readMemory(); err != nil {
		if cfg.Limit > 0 || cfg.Warning > 0 {
			return nil, fmt.Errorf("MEMUSAGE_LIMIT_MB and MEMUSAGE_WARNING_MB can not be obeyed here: %w", err)
		}
		return nil, nil
	}
	return &memUsage{memConfig: cfg, read: readMemory, log: env.Logger("memusage"), stats: env.Stats, signals: env.Signals, close: env.CloseSpider}, nil
}

type memConfig struct {
	Enabled  bool          `setting:"MEMUSAGE_ENABLED"`
	Interval time.Duration `setting:"MEMUSAGE_CHECK_INTERVAL_SECONDS"`
	Limit    int           `setting:"MEMUSAGE_LIMIT_MB"`
	Warning  int           `setting:"MEMUSAGE_WARNING_MB"`
}

// memory is the resident memory of the process in bytes.
type memory struct{ current, peak int64 }

var errNoMemory = errors.New("this system does not tell the memory of a process")

type memUsage struct {
	memConfig
	read    func() (memory, error)
	log     zerolog.Logger
	stats   *crawl.Stats
	signals *crawl.Signals
	close   func(reason string)

	before int64 // the peak before this crawl
	max    int64
	warned bool
}

// Run looks at the memory until ctx is done, and once more then.
func (m *memUsage) Run(ctx context.Context) error {
	start, err := m.read()
	if err != nil {
		return fmt.Errorf("read the memory in use: %w", err)
	}
	m.before = start.peak
	m.stats.Set("memusage/startup", start.current)
	ticker := time.NewTicker(m.Interval)
	defer ticker.Stop()
	for {
		used, err := m.look()
		if err != nil {
			return err
		}
		m.judge(ctx, used)
		select {
		case <-ctx.Done():
			_, err := m.look()
			return err
		case <-ticker.C:
		}
	}
}

// look notes the memory and returns the most that this crawl has used since the
// last look, or ever if only that is known.
func (m *memUsage) look() (int64, error) {
	now, err := m.read()
	if err != nil {
		return 0, fmt.Errorf("read the memory in use: %w", err)
	}
	used := now.current
	if now.peak > m.before {
		used = max(used, now.peak)
	}
	m.max = max(m.max, used)
	m.stats.Set("memusage/current", now.current)
	m.stats.Max("memusage/max", m.max)
	return m.max, nil
}

// bytesOf returns a number of MiB in bytes, or as many as an int64 can hold.
func bytesOf(mib int) int64 { return min(int64(mib), math.MaxInt64>>20) << 20 }

// judge holds the memory against the limits. Lines are Scrapy's.
func (m *memUsage) judge(ctx context.Context, used int64) {
	if m.Limit > 0 {
		if used > bytesOf(m.Limit) {
			m.stats.Set("memusage/limit_reached", 1)
			m.log.Error().Msgf("Memory usage exceeded %dMiB. Shutting down the crawl...", m.Limit)
			m.close("memusage_exceeded")
		} else {
			m.log.Info().Msgf("Peak memory usage is %dMiB", used>>20)
		}
	}
	if m.Warning > 0 && used > bytesOf(m.Warning) && !m.warned {
		m.warned = true
		m.stats.Set("memusage/warning_reached", 1)
		m.log.Warn().Msgf("Memory usage reached %dMiB", m.Warning)
		if err := crawl.Send(ctx, m.signals, crawl.MemoryWarningReached{}); err != nil {
			m.log.Error().Err(err).Msg("Error caught on signal handler of MemoryWarningReached")
		}
	}
}
