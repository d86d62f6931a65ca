package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// The error about missing programs has the command that installs them.
func TestInstalled(t *testing.T) {
	server, client := serve.Need{Service: "postgres", Path: "/no/postgres"}, serve.Need{Tool: "no-such-client", Package: "clients"}
	there, other := serve.Need{Tool: "true", Package: "coreutils"}, serve.Need{Tool: "no-such-tool", Package: "tools"}
	load := func(name, image string, needs ...serve.Need) plan.Load {
		return plan.Load{Workload: record.Workload{Name: name}, Stages: workload.Stages{Needs: needs}, Arms: []plan.PlannedArm{{Arm: record.Arm{Name: "host", Options: record.Options{Image: image}}}}}
	}
	if err := installed(&plan.Plan{Loads: []plan.Load{load("a", "", there)}}); err != nil {
		t.Errorf("%v", err)
	}
	for name, c := range map[string]struct {
		loads          []plan.Load
		says, remedies string
		code           int
	}{
		"a client":       {[]plan.Load{load("read", "", client)}, "read needs no-such-client, which this host does not have", "apt-get install clients", exitUnsupported},
		"of two loads":   {[]plan.Load{load("read", "", client), load("write", "", client)}, "read, write need no-such-client, which this host does not have", "apt-get install clients", exitUnsupported},
		"two programs":   {[]plan.Load{load("read", "", there, other, client)}, "read needs no-such-tool and no-such-client, which this host does not have", "apt-get install tools clients", exitUnsupported},
		"in an image":    {[]plan.Load{load("read", "image", client, server)}, "", "", exitOK},
		"a path":         {[]plan.Load{load("read", "", serve.Need{Tool: "sysbench", Path: "/no/sysbench"})}, "workload read: find sysbench: stat /no/sysbench: no such file or directory", "install it (apt-get install sysbench), or name it with sysbench=PATH", exitUsage},
		"another's host": {nil, "", "", exitOK},
	} {
		err := installed(&plan.Plan{Loads: c.loads})
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || err.Error() != c.says || hint.Of(err) != c.remedies || !errors.Is(err, facts.ErrUnsupported) || exitCode(err) != c.code {
			t.Errorf("%s: %v (%s)", name, err, hint.Of(err))
		}
	}
}

// Workloads whose programs are missing are left out, with the line that installs them, and the
// others have their time; where that would be all of them, the plan stays as it is.
func TestLeaveOutUninstalled(t *testing.T) {
	there, other := serve.Need{Tool: "true", Package: "coreutils"}, serve.Need{Tool: "no-such-tool", Package: "tools"}
	named := serve.Need{Tool: "sysbench", Path: "/no/sysbench"}
	load := func(name string, n serve.Need) plan.Load {
		return plan.Load{Workload: record.Workload{Name: name, Budget: 20}, Share: 1, Stages: workload.Stages{Needs: []serve.Need{n}}, Arms: []plan.PlannedArm{{Arm: record.Arm{Name: "host"}}}}
	}
	for _, c := range []struct{ needs, stay []serve.Need }{
		{[]serve.Need{there, other, other}, []serve.Need{there}},
		{[]serve.Need{other, other}, []serve.Need{other, other}},
		{[]serve.Need{there, named}, []serve.Need{there, named}},
	} {
		p := &plan.Plan{Record: record.Plan{Budget: 20 * float64(len(c.needs))}}
		for i, n := range c.needs {
			p.Loads = append(p.Loads, load(fmt.Sprint("w", i), n))
		}
		leaveOutUninstalled(p)
		if len(p.Loads) != len(c.stay) || len(p.Left) != len(c.needs)-len(c.stay) {
			t.Fatalf("%v: %d stay, left out: %v", c.needs, len(p.Loads), p.Left)
		}
		for i, l := range p.Left {
			if want := (record.Left{Workload: fmt.Sprint("w", i+1), Reason: record.InProse("needs no-such-tool, which this host does not have"), Remedy: record.InProse("apt-get install tools")}); l != want {
				t.Errorf("left out: %+v", l)
			}
		}
		if len(p.Left) > 0 && (p.Loads[0].Budget != 60 || len(p.Record.Workloads) != 1) {
			t.Errorf("%v s for %d workloads", p.Loads[0].Budget, len(p.Record.Workloads))
		}
	}
}

// For pods on another host, this host needs only what makes the data of a database.
func TestMissingForPodsElsewhere(t *testing.T) {
	server, tool := serve.Need{Service: "redis", Path: "/no/redis-server"}, serve.Need{Tool: "no-such-tool", Package: "tools"}
	prepare := func(string) workload.Task { return workload.Task{} }
	for name, c := range map[string]struct {
		stages workload.Stages
		lacks  bool
	}{
		"a database": {workload.Stages{Prepare: prepare, Needs: []serve.Need{server, tool}}, true},
		"files":      {workload.Stages{Prepare: prepare, Needs: []serve.Need{tool}}, false},
		"no data":    {workload.Stages{Needs: []serve.Need{server}}, false},
	} {
		l := plan.Load{Workload: record.Workload{Name: "a"}, Stages: c.stages, Arms: []plan.PlannedArm{{Arm: record.Arm{Name: "besteffort", Pod: true}}}}
		got := lacksOf(&plan.Plan{PodNode: "node", Loads: []plan.Load{l}}, l)
		if (len(got.named) > 0 || len(got.missing) > 0) != c.lacks {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
