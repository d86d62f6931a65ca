package cli

import (
	"strings"
	"testing"
)

// The command of an earlier version's record is printed with present flags.
func TestTodaysCommand(t *testing.T) {
	for was, want := range map[string]string{
		"tare run quick --generations=5 --set=rpc.size=1KiB --seed=7":    "tare run quick --set=generations=5 --set=rpc.size=1KiB --seed=7",
		"tare run mysql-volumes --allow-unequal":                         "tare run mysql-volumes --set=unequal=mark",
		"tare run quick --all-nodes --node-helper --parallel --seed=1":   "tare run quick --nodes=all --node-helper --seed=1",
		"tare run jsonl --command=--generations=5 --scratch=/srv --seed": "tare run jsonl --command=--generations=5 --scratch=/srv --seed",
	} {
		if got := strings.Join(presentCommand(strings.Fields(was)), " "); got != want {
			t.Errorf("%q is %q, want %q", was, got, want)
		}
	}
}
