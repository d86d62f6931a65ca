package record

import (
	"maps"
	"slices"
	"strconv"
)

// Fact is one property of a host.
type Fact struct {
	Name  Said // "kernel", "mitigation of meltdown"
	Value string
	Unit  string // "B" where Value is a number of bytes, else empty
}

// Property is the name of a property of a host, a load or an arm, or of a setting.
func Property(name string) Said { return Say("property", "name", name) }

// Facts lists the known properties of a host except its name, in the order of display.
func (h Host) Facts() []Fact {
	number := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}
	all := []Fact{
		{Name: Property("kernel"), Value: h.Kernel}, {Name: Property("distribution"), Value: h.Distro}, {Name: Property("architecture"), Value: h.Arch},
		{Name: Property("CPU"), Value: h.CPUModel}, {Name: Property("CPUs"), Value: number(uint64(h.CPUs))}, {Property("memory"), number(h.Memory), "B"},
		{Name: Property("virtualisation"), Value: h.Virtual}, {Name: Property("control groups"), Value: h.Cgroup}, {Name: Property("governor"), Value: h.Governor},
	}
	if h.Helper != nil {
		all = append(all, Fact{Name: Property("entered from"), Value: h.Helper.Image + ", namespaces of " + h.Helper.Namespaces},
			Fact{Name: Property("kubelet"), Value: h.Helper.Kubelet}, Fact{Name: Property("container runtime"), Value: h.Helper.Runtime})
	}
	for _, flaw := range slices.Sorted(maps.Keys(h.Mitigations)) {
		all = append(all, Fact{Name: Say("mitigation", "flaw", flaw), Value: h.Mitigations[flaw]})
	}
	return slices.DeleteFunc(all, func(f Fact) bool { return f.Value == "" })
}

// HostDifference is a property in which two hosts differ; empty on a host without it.
type HostDifference struct {
	Name                Said
	Unit, Before, After string
}

// Differences lists the properties in which two hosts differ, including their names.
func (h Host) Differences(other Host) []HostDifference {
	all := []HostDifference{{Name: Property("host"), Before: h.Name, After: other.Name}}
	at := map[Said]int{Property("host"): 0}
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
