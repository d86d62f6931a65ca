package record

import (
	"maps"
	"slices"
	"strconv"
)

// Fact is one property of a host.
type Fact struct {
	Name  string // "kernel", "mitigation of meltdown"
	Value string
	Unit  string // "B" where Value is a number of bytes, else empty
}

// Facts lists the known properties of a host except its name, in the order of display.
func (h Host) Facts() []Fact {
	number := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}
	all := []Fact{
		{Name: "kernel", Value: h.Kernel}, {Name: "distribution", Value: h.Distro}, {Name: "architecture", Value: h.Arch},
		{Name: "CPU", Value: h.CPUModel}, {Name: "CPUs", Value: number(uint64(h.CPUs))}, {"memory", number(h.Memory), "B"},
		{Name: "virtualisation", Value: h.Virtual}, {Name: "control groups", Value: h.Cgroup}, {Name: "governor", Value: h.Governor},
	}
	if h.Helper != nil {
		all = append(all, Fact{Name: "entered from", Value: h.Helper.Image + ", namespaces of " + h.Helper.Namespaces},
			Fact{Name: "kubelet", Value: h.Helper.Kubelet}, Fact{Name: "container runtime", Value: h.Helper.Runtime})
	}
	for _, flaw := range slices.Sorted(maps.Keys(h.Mitigations)) {
		all = append(all, Fact{Name: "mitigation of " + flaw, Value: h.Mitigations[flaw]})
	}
	return slices.DeleteFunc(all, func(f Fact) bool { return f.Value == "" })
}

// HostDifference is a property in which two hosts differ; empty on a host without it.
type HostDifference struct{ Name, Unit, Before, After string }

// Differences lists the properties in which two hosts differ, including their names.
func (h Host) Differences(other Host) []HostDifference {
	all := []HostDifference{{Name: "host", Before: h.Name, After: other.Name}}
	at := map[string]int{"host": 0}
	for _, f := range h.Facts() {
		at[f.Name] = len(all)
		all = append(all, HostDifference{Name: f.Name, Unit: f.Unit, Before: f.Value})
	}
	for _, f := range other.Facts() {
		if i, ok := at[f.Name]; ok {
			all[i].After = f.Value
			continue
		}
		all = append(all, HostDifference{Name: f.Name, Unit: f.Unit, After: f.Value})
	}
	return slices.DeleteFunc(all, func(d HostDifference) bool { return d.Before == d.After })
}
