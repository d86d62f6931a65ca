package isolation

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/environment"
)

// Classes of the last level cache and of memory bandwidth (Intel RDT, AMD QoS),
// see the kernel's Documentation/filesystems/resctrl.rst. The neighbour gets a
// class of its own; the arm stays in the default class.

// cache gives the neighbour few ways of the L3 cache. The arm may use those too.
type cache struct{}

func (cache) Describe() Description {
	return Description{Name: "resctrl.cache", Title: "a small part of the last level cache",
		Level: Level{Default: "10%", Help: "share of the L3 cache, such as 10%", Check: check(percent)}}
}

func (cache) Support(h environment.Host) environment.Support {
	s := resctrl(h)
	if s.Answer == environment.Yes && len(h.Control.Resctrl.Caches) == 0 {
		return environment.Unsupported("this CPU does not divide its L3 cache", "a CPU with cache allocation (Intel CAT, AMD L3 allocation)")
	}
	return s
}

func resctrl(h environment.Host) environment.Support {
	switch {
	case h.Control.Resctrl == nil:
		return environment.Unsupported("no resctrl file system: "+h.Control.ResctrlWhy, "on bare metal with Intel RDT or AMD QoS: mount -t resctrl resctrl /sys/fs/resctrl")
	case !h.Root:
		return environment.Unsupported("only root can make classes of resctrl", "run as root")
	case h.Groups == nil:
		return environment.Unsupported("no control groups: "+h.GroupsWhy, h.GroupsRemedy)
	}
	return environment.Supported()
}

func (cache) Settings(level string, h environment.Host) (Settings, error) {
	share, err := percent(level)
	if err != nil {
		return Settings{}, err
	}
	r := h.Control.Resctrl
	if r == nil || r.Ways < 1 || r.Ways > 63 {
		return Settings{}, fmt.Errorf("resctrl.cache: %w", environment.ErrUnsupported)
	}
	ways := max(int(math.Round(share*float64(r.Ways))), r.LeastWays, 1)
	mask := strconv.FormatUint(1<<min(ways, r.Ways)-1, 16)
	return class(r, "L3", r.Caches, mask), nil
}

// bandwidth slows the neighbour's accesses to memory down.
type bandwidth struct{}

func (bandwidth) Describe() Description {
	return Description{Name: "resctrl.bandwidth", Title: "less memory bandwidth",
		Level: Level{Default: "10%", Help: "share of the bandwidth, such as 10%", Check: check(percent)}}
}

func (bandwidth) Support(h environment.Host) environment.Support {
	s := resctrl(h)
	if s.Answer == environment.Yes && len(h.Control.Resctrl.Memory) == 0 {
		return environment.Unsupported("this CPU does not divide its memory bandwidth", "a CPU with memory bandwidth allocation (Intel MBA, AMD QoS)")
	}
	return s
}

func (bandwidth) Settings(level string, h environment.Host) (Settings, error) {
	share, err := percent(level)
	if err != nil {
		return Settings{}, err
	}
	r := h.Control.Resctrl
	if r == nil {
		return Settings{}, fmt.Errorf("resctrl.bandwidth: %w", environment.ErrUnsupported)
	}
	step := max(r.Step, 1) // the kernel rounds up to it
	n := (int(math.Round(100*share)) + step - 1) / step * step
	return class(r, "MB", r.Memory, strconv.Itoa(min(max(n, r.LeastPercent), 100))), nil
}

func class(r *environment.Resctrl, resource string, domains []int, value string) Settings {
	var parts []string
	for _, d := range domains {
		parts = append(parts, fmt.Sprint(d, "=", value))
	}
	return Settings{
		Class: &Class{Dir: r.Dir, Schemata: []string{resource + ":" + strings.Join(parts, ";")}},
		Live:  true,
	}
}
