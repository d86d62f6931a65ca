package experiment

import (
	"strings"
	"testing"
)

// A workload is selected by its name or its kind; optional ones run only when they are selected.
func TestSelectByKind(t *testing.T) {
	const source = "workloads: {a: {kind: oltp}, b: {kind: oltp, optional: true}, rpc: {kind: commit}}"
	for names, want := range map[string]string{
		"": "a rpc", "a": "a", "b": "b", "oltp": "a b", "rpc": "rpc", "commit": "rpc", "b,commit": "b rpc", "oltp,a": "a b",
		"c": `no workload "c"`, "a,a": "named twice",
	} {
		e, err := Parse("t.yaml", []byte(source), testWords())
		if err != nil {
			t.Fatal(err)
		}
		var given []string
		if names != "" {
			given = strings.Split(names, ",")
		}
		err = e.Select("--workload", given)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", names, err)
			}
			continue
		}
		if got := strings.Join(e.workloadNames(), " "); got != want || strings.Contains(string(e.YAML()), "optional") {
			t.Errorf("%s selects %s\n%s", names, got, e.YAML())
		}
	}
}
