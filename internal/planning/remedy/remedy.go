// Package remedy describes what may win a loss back, one file for each remedy: the causes it is for, the
// arm that tests it, given the arm that lost, what it gives up, and the settings that apply and undo it.
// It is pure. The texts of a remedy stand in its file: they are its description.
//
// A remedy never weakens durability. It must not be tried by anything but an arm.
//
// It may import experiment, environment, isolation, facts and loads/workload. To add a remedy: one file
// with a function, and its line in All.
package remedy

import (
	"maps"
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Remedy is one way to win a loss back.
type Remedy struct {
	Name  string // the name of the arm that tests it
	Does  string // what is set, in words
	For   []record.LossCause
	Gives record.Said // what it gives up, where Trial.Gives has no amount
	Needs string      // of kernel or cluster; empty: nothing
	// Part is the part of such a loss that it usually gives back. It decides the order of the candidates
	// and nothing else.
	Part float64
	// Sets is what it sets. Two remedies that set the same are not put together.
	Sets string
	// On returns the trial of the remedy on the arm that lost; false: it does not apply to that arm.
	On func(Lost) (Trial, bool)
}

// Lost is the arm that lost, with what decides whether a remedy applies.
type Lost struct {
	Arm experiment.ArmSpec
	// Volume is the word of the volume under the data of the arm.
	Volume string
	// Params are the parameters of the load, with those that the arm sets.
	Params map[string]string
	Server bool // the load has one
	// Service: the arm runs as a service of the host, in a control group of its own.
	Service bool
	// Taken are names that the arms of candidates must not have.
	Taken  []string
	Can    environment.Capabilities
	CPUs   []int  // of the host, that tare may use
	Memory uint64 // of the host, in bytes; 0: unknown
	// Received is the CPU time that the arm received, in CPU seconds per second; 0: unknown.
	Received float64
	// NeighbourInPod: what protects from the neighbour is set by the cluster.
	NeighbourInPod bool
}

// Trial is a remedy on an arm.
type Trial struct {
	Arm         experiment.ArmSpec
	Apply, Undo []record.RemedySetting
	Gives       record.Said // what it gives up, with the amount; zero: Remedy.Gives
	// Not is the reason why no arm can test the remedy; Arm is empty then.
	Not *record.Left
}

// All lists the remedies.
func All() []Remedy {
	return []Remedy{
		cpuIdle(), cpuWeight(), cpuQuota(), cpuBurst(), cpuSplit(), schedIdle(), qosLevel(), ioWeight(), ioMax(), memoryHigh(),
		hostNetwork(), ownAddress(), socket(), bind(), fileSystem(), seccomp(),
		defaultWeight(), limitRemoved(), wholeCPUs(), limitBurst(), pinned(), noMemoryLimit(), memoryLimit(),
		podRequests(), podGuaranteed(), cpuManager(), localVolume(), storageClass(),
		bufferPool(), sharedBuffers(), flushMethod(), ioCapacity(),
	}
}

// Find finds a remedy by its name.
func Find(name string) (Remedy, bool) {
	all := All()
	i := slices.IndexFunc(all, func(r Remedy) bool { return r.Name == name })
	if i < 0 {
		return Remedy{}, false
	}
	return all[i], true
}

// arm is a copy of the arm that lost, to be changed.
func (l Lost) arm() experiment.ArmSpec {
	a := l.Arm
	a.Isolation, a.Set = slices.Clone(a.Isolation), maps.Clone(a.Set)
	return a
}

// set is a copy of the arm with parameters of the load.
func (l Lost) set(params ...string) experiment.ArmSpec {
	a := l.arm()
	if a.Set == nil {
		a.Set = map[string]string{}
	}
	for i := 0; i+1 < len(params); i += 2 {
		a.Set[params[i]] = params[i+1]
	}
	return a
}

// isolated is the trial of a mechanism of isolation on a neighbour of the host. undo are the settings that
// Apply replaces, in the order of Apply.
func (l Lost) isolated(mechanism string, apply, undo []record.RemedySetting) (Trial, bool) {
	if l.Arm.Neighbour == "" || l.NeighbourInPod {
		return Trial{}, false
	}
	a := l.arm()
	a.Isolation = append(a.Isolation, mechanism)
	return Trial{Arm: a, Apply: apply, Undo: reversed(undo)}, true
}

// beside is isolated for a mechanism of one setting.
func (l Lost) beside(mechanism string, key record.SettingKey, want, was string) (Trial, bool) {
	return l.isolated(mechanism, one(record.OnNeighbour, key, want), one(record.OnNeighbour, key, was))
}

// change is the trial of an arm that differs in one setting.
func change(a experiment.ArmSpec, on record.SettingOn, key record.SettingKey, want, was string) Trial {
	return Trial{Arm: a, Apply: one(on, key, want), Undo: one(on, key, was)}
}

func reversed(s []record.RemedySetting) []record.RemedySetting {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

func setting(on record.SettingOn, key record.SettingKey, value string) record.RemedySetting {
	return record.RemedySetting{On: on, Key: key, Value: value}
}

func one(on record.SettingOn, key record.SettingKey, value string) []record.RemedySetting {
	return []record.RemedySetting{setting(on, key, value)}
}

// Spec is an arm of a record as an experiment defines it.
func Spec(a record.Arm) experiment.ArmSpec {
	return experiment.ArmSpec{
		Name: a.Name, Environment: a.Environment, Neighbour: a.Neighbour, Isolation: slices.Clone(a.Isolation), Options: a.Options,
		Against: a.Against, Set: maps.Clone(a.Set),
	}
}
