package isolation

import (
	"strconv"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// weight gives the neighbour a small share of the CPU time while both sides want it. The level
// is a weight of version 2, where 100 is the default; version 1 gets shares of 1024.
type weight struct{}

func (weight) Describe() description {
	return description{Name: "cpu.weight", Title: record.Say("isolation_weight"),
		Level: level{Default: "1", Check: check(weightLevel)}}
}

func weightLevel(s string) (int, error) { return whole(s, 1, 10_000) }

func (weight) Support(h facts.Host) facts.Support { return can(h, record.Said{}, "cpu") }

func (weight) Settings(level string, h facts.Host) (Settings, error) {
	n, err := weightLevel(level)
	if err != nil {
		return Settings{}, err
	}
	f := File{Controller: "cpu", Name: "cpu.weight", Write: strconv.Itoa(n)}
	if v1(h, "cpu") {
		f.Name, f.Write = "cpu.shares", strconv.FormatUint(cgroup.Shares(uint64(n)), 10)
	}
	return Settings{Neighbour: []string{"cpu"}, Files: []File{f}, Live: true}, nil
}
