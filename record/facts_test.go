package record

import (
	"slices"
	"testing"
)

func TestHostFacts(t *testing.T) {
	a := Host{Name: "a", Kernel: "6.1", CPUs: 2, Memory: 1 << 30, Cgroup: "v2", Mitigations: map[string]string{"meltdown": "PTI", "mds": "Clear"}}
	want := []Fact{{Property("kernel"), "6.1", ""}, {Property("CPUs"), "2", ""}, {Property("memory"), "1073741824", "B"}, {Property("control groups"), "v2", ""},
		{Say("mitigation", "flaw", "mds"), "Clear", ""}, {Say("mitigation", "flaw", "meltdown"), "PTI", ""}}
	if got := a.Facts(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	b := a
	b.Name, b.Kernel, b.Governor, b.Mitigations = "b", "6.6", "performance", map[string]string{"meltdown": "PTI"}
	differ := []HostDifference{{Property("host"), "", "a", "b"}, {Property("kernel"), "", "6.1", "6.6"}, {Say("mitigation", "flaw", "mds"), "", "Clear", ""}, {Property("governor"), "", "", "performance"}}
	if got := a.Differences(b); !slices.Equal(got, differ) {
		t.Errorf("%+v", got)
	}
	if got := a.Differences(a); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
