package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/loads/workload"

	"github.com/tarelab/tare/record"
)

// testWords is a small vocabulary like the catalog's: the golden files do not change when the
// catalog grows.
func testWords() Words {
	number := func(least, most int) func(string) error {
		return func(s string) error {
			if n, err := strconv.Atoi(s); err != nil || n < least || n > most {
				return fmt.Errorf("%q is not a whole number from %d to %d", s, least, most)
			}
			return nil
		}
	}
	return Words{
		Arms: []string{"host", "cgroup", "namespaces", "rootfs", "security", "network", "nat", "container", "cpu-limit"},
		Neighbours: map[string][]workload.Param{
			"spin":   {{Name: "threads", Default: "2", Check: number(1, 256), Help: "threads that calculate"}},
			"stress": {{Name: "cpu", Default: "4", Check: number(0, 1024)}, {Name: "note", Help: "free text"}},
		},
		Networks: []string{"host", "bridge"}, Seccomp: []string{"default", "unconfined"}, Capabilities: []string{"default", "none"},
		Mechanisms: []string{"cpu.idle", "cpu.weight=1"},
		Levels: func(environment, levels string) error {
			if environment != "cgroup" || levels != "cpu=1" {
				return fmt.Errorf("no level %q", levels)
			}
			return nil
		},
		Isolation: func(text string) error {
			name, level, given := strings.Cut(text, "=")
			if names := []string{"cpu.idle", "cpu.weight"}; !slices.Contains(names, name) {
				return fmt.Errorf("unknown isolation %q%s", name, hint.DidYouMean(name, names))
			}
			if given && number(1, 100)(level) != nil {
				return fmt.Errorf("%s: %q is not a level", name, level)
			}
			return nil
		},
		Volume: func(text string) error {
			if words := []string{"layer", "bind", "dir:/x"}; !slices.Contains(words, text) {
				return fmt.Errorf("unknown volume %q%s", text, hint.DidYouMean(text, words))
			}
			return nil
		},
		Kinds: map[string][]workload.Param{
			"oltp": {
				{Name: "mode", Default: "read_only", Words: []string{"read_only", "read_write"}, Help: "transaction mix"},
				{Name: "threads", Default: "2", Check: number(1, 256), Help: "clients at once"},
				{Name: "rows", Default: "10000", Check: number(1, 1e9), Help: "rows of the table"},
			},
			"commit": {
				{Name: "bytes", Default: "512", Check: number(1, 1<<20), Help: "size of a commit"},
			},
			"rpc": {
				{Name: "mode", Default: "closed", Words: []string{"closed", "open"}, Help: "closed: the next request follows the response; open: requests arrive at a fixed rate"},
				{Name: "note", Help: "free text"},
			},
		},
	}
}

const valid = `
title: two arms
budget: 90s
precision: 0.5%
seed: 7
arms: [host, cgroup]
workloads:
  a:
    kind: oltp
    params: {mode: read_write, threads: 4}
  b:
    kind: rpc
    share: 2
    arms: container
    baseline: cgroup
`

const colocated = `
title: beside hogs
baseline: alone
neighbours:
  hogs:
    kind: spin
    params: {threads: 4}
    memory: 64MiB
  noise: {kind: stress}
arms:
  alone:
  none: {neighbour: hogs, isolation: none}
  idle: {environment: cgroup, neighbour: hogs, isolation: cpu.idle}
  both: {environment: cgroup, neighbour: noise, isolation: [cpu.idle, cpu.weight=5], volume: bind, set: {threads: 8}}
workloads:
  a:
    kind: oltp
  b:
    kind: oltp
    arms: [none, idle]
    baseline: none
  c:
    kind: commit
    arms:
      small: {environment: host, set: {bytes: 100}}
      large: {set: {bytes: 1000}}
sizes:
  published:
    budget: 1h
    a.threads: 56
    neighbours.hogs.threads: 10
    arms.both.set.rows: 1000000
`

func colocatedExperiment() *Experiment {
	params := func() map[string]string {
		return map[string]string{"mode": "read_only", "threads": "2", "rows": "10000"}
	}
	return &Experiment{
		Name: "f", Title: "beside hogs", Budget: 3 * time.Minute, Precision: 0.01, Margin: 0.01, Volume: Volume, Unequal: Refuse,
		Neighbours: []Neighbour{
			{Name: "hogs", Kind: "spin", Params: map[string]string{"threads": "4"}, Memory: 64 << 20, Pids: 1024},
			{Name: "noise", Kind: "stress", Params: map[string]string{"cpu": "4", "note": ""}, Memory: 256 << 20, Pids: 1024},
		},
		Named: []ArmSpec{
			{Name: "alone", Environment: "host"},
			{Name: "none", Environment: "host", Neighbour: "hogs"},
			{Name: "idle", Environment: "cgroup", Neighbour: "hogs", Isolation: []string{"cpu.idle"}},
			{Name: "both", Environment: "cgroup", Neighbour: "noise", Isolation: []string{"cpu.idle", "cpu.weight=5"},
				Options: record.Options{Volume: "bind"}, Set: map[string]string{"threads": "8"}},
		},
		Workloads: []Workload{
			{Name: "a", Kind: "oltp", Share: 1, Baseline: "alone", Params: params()},
			{Name: "b", Kind: "oltp", Share: 1, Baseline: "none", Arms: []string{"none", "idle"}, Params: params()},
			{Name: "c", Kind: "commit", Share: 1, Baseline: "small", Params: map[string]string{"bytes": "512"}, Named: []ArmSpec{
				{Name: "small", Environment: "host", Set: map[string]string{"bytes": "100"}},
				{Name: "large", Environment: "host", Set: map[string]string{"bytes": "1000"}},
			}},
		},
		Sizes: []Size{{Name: "published", Settings: []Setting{
			{"budget", "1h"}, {"a.threads", "56"}, {"neighbours.hogs.threads", "10"}, {"arms.both.set.rows", "1000000"},
		}}},
	}
}

func validExperiment() *Experiment {
	return &Experiment{
		Name: "two", Title: "two arms", Budget: 90 * time.Second, Precision: 0.005, Margin: 0.01,
		Seed: 7, Volume: Volume, Unequal: Refuse, Arms: []string{"host", "cgroup"},
		Workloads: []Workload{
			{Name: "a", Kind: "oltp", Share: 1, Baseline: "host",
				Params: map[string]string{"mode": "read_write", "threads": "4", "rows": "10000"}},
			{Name: "b", Kind: "rpc", Share: 2, Baseline: "cgroup", Arms: []string{"container"},
				Params: map[string]string{"mode": "closed", "note": ""}},
		},
	}
}
