package isolation

import (
	"os"
	"strconv"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

func pages(s string) (string, error) {
	n, err := size(s)
	page := uint64(os.Getpagesize())
	return strconv.FormatUint(max(n/page*page, page), 10), err
}

// bytesLevel is the level of a limit of memory.
func bytesLevel(standard string) level {
	return level{Default: standard, Check: check(size)}
}

// memoryMax limits the neighbour's memory: above the limit the kernel reclaims the neighbour's
// own memory, then kills it. Every neighbour has such a limit; this one is lower.
type memoryMax struct{}

func (memoryMax) Describe() description {
	return description{Name: "memory.max", Title: record.Say("isolation_memory_max"), Level: bytesLevel("128MiB")}
}

func (memoryMax) Support(h facts.Host) facts.Support { return can(h, record.Said{}, "memory") }

func (memoryMax) Settings(level string, h facts.Host) (Settings, error) {
	n, err := pages(level)
	f := File{Controller: "memory", Name: "memory.max", Write: n}
	if v1(h, "memory") {
		f.Name = "memory.limit_in_bytes"
	}
	// Not Live: memory that a limit pushed out stays out when the limit is taken back, and the
	// next window differs.
	return Settings{Neighbour: []string{"memory"}, Files: []File{f}}, err
}

// memoryHigh makes the neighbour reclaim its own memory above a limit, and wait meanwhile
// (version 2).
type memoryHigh struct{}

func (memoryHigh) Describe() description {
	return description{Name: "memory.high", Title: record.Say("isolation_memory_high"), Level: bytesLevel("128MiB")}
}

func (memoryHigh) Support(h facts.Host) facts.Support {
	return can(h, bootWithVersion2, "memory", "memory.high")
}

func (memoryHigh) Settings(level string, _ facts.Host) (Settings, error) {
	n, err := pages(level)
	return Settings{
		Neighbour: []string{"memory"},
		Files:     []File{{Controller: "memory", Name: "memory.high", Write: n}},
	}, err
}

// memoryLow protects the arm's memory, up to a size, from reclaim on behalf of others (version
// 2). The arm needs a memory group: an environment from cgroup on.
type memoryLow struct{}

func (memoryLow) Describe() description {
	return description{Name: "memory.low", Title: record.Say("isolation_memory_low"), Level: bytesLevel("256MiB")}
}

func (memoryLow) Support(h facts.Host) facts.Support {
	return can(h, bootWithVersion2, "memory", "memory.low")
}

func (memoryLow) Settings(level string, _ facts.Host) (Settings, error) {
	n, err := pages(level)
	return Settings{
		Arm:   []string{"memory"},
		Files: []File{{Of: Arm, Controller: "memory", Name: "memory.low", Write: n, Competing: true}},
	}, err
}
