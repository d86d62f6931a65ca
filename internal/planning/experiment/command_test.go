package experiment

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/loads/workload"
)

func TestForCommand(t *testing.T) {
	words := Words{Kinds: map[string][]workload.Param{commandKind: workload.Command{}.Params()}, Arms: []string{"host"}}
	e, err := ForCommand("--command", "./bench -n 3", "/home/u/my dir", words)
	if err != nil {
		t.Fatal(err)
	}
	w := e.Workload(commandKind)
	if w.Params["command"] != "'/home/u/my dir/bench' -n 3" || w.Params["timeout"] != "10m" || w.Baseline != Baseline || e.Budget != Budget {
		t.Errorf("%+v", e)
	}
	again, err := Parse("x.yaml", e.YAML(), words)
	if err != nil || again.Workload(commandKind).Params["command"] != w.Params["command"] {
		t.Errorf("written and read again: %v", err)
	}
	if _, err := ForCommand("--command", " ", "/", words); err == nil || !strings.Contains(err.Error(), "--command") {
		t.Errorf("an empty command: %v", err)
	}
}

func TestFromDir(t *testing.T) {
	for command, want := range map[string]string{
		"./b": "/d/b", "../b x": "/b x", " ./b": "/d/b", "b x": "b x", "/b": "/b", "dir/b": "dir/b", `./a\ b`: `./a\ b`, "": "",
	} {
		if got := fromDir(command, "/d"); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
