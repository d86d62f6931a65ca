package isolation

import (
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// idle lets the neighbour run only while nobody else wants the CPU; it is preempted at once
// when somebody does (cpu.idle, Linux 5.15, both versions).
type idle struct{}

func (idle) Describe() description {
	return description{Name: "cpu.idle", Title: record.Say("isolation_idle")}
}

func (idle) Support(h facts.Host) facts.Support {
	return can(h, kernelWithIdle, "cpu", "cpu.idle")
}

func (idle) Settings(string, facts.Host) (Settings, error) {
	return Settings{
		Neighbour: []string{"cpu"},
		Files:     []File{{Controller: "cpu", Name: "cpu.idle", Write: "1"}},
		Live:      true,
	}, nil
}
