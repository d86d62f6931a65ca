package isolation

import (
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// none is no protection: the baseline of the other mechanisms.
type none struct{}

func (none) Describe() description {
	return description{Name: None, Title: record.Say("isolation_none")}
}

func (none) Support(facts.Host) facts.Support { return facts.Supported() }

func (none) Settings(string, facts.Host) (Settings, error) { return Settings{Live: true}, nil }

// group gives the neighbour a cpu group of its own with the default weight, as every container
// has one.
type group struct{}

func (group) Describe() description {
	return description{Name: "cpu.group", Title: record.Say("isolation_group")}
}

func (group) Support(h facts.Host) facts.Support { return can(h, record.Said{}, "cpu") }

func (group) Settings(string, facts.Host) (Settings, error) {
	return Settings{Neighbour: []string{"cpu"}, Live: true}, nil
}
