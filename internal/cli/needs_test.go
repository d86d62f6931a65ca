package cli

import (
	"errors"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// What a plan needs and this host does not have is said with the line that installs it,
// before anything is prepared.
func TestInstalled(t *testing.T) {
	server, client := serve.Need{Service: "postgres", Path: "/no/postgres"}, serve.Need{Tool: "no-such-client", Package: "clients"}
	there, other := serve.Need{Tool: "true", Package: "coreutils"}, serve.Need{Tool: "no-such-tool", Package: "tools"}
	load := func(name, image string, needs ...serve.Need) plan.Load {
		return plan.Load{Workload: record.Workload{Name: name}, Stages: workload.Stages{Needs: needs}, Arms: []plan.PlannedArm{{Arm: record.Arm{Name: "host", Image: image}}}}
	}
	if err := installed(&plan.Plan{Loads: []plan.Load{load("a", "", there)}}); err != nil {
		t.Errorf("%v", err)
	}
	for name, c := range map[string]struct {
		loads          []plan.Load
		says, remedies string
	}{
		"a client":       {[]plan.Load{load("read", "", client)}, "read needs no-such-client, which this host does not have", "apt-get install clients"},
		"of two loads":   {[]plan.Load{load("read", "", client), load("write", "", client)}, "read, write need no-such-client, which this host does not have", "apt-get install clients"},
		"two programs":   {[]plan.Load{load("read", "", there, other, client)}, "read needs no-such-tool and no-such-client, which this host does not have", "apt-get install tools clients"},
		"in an image":    {[]plan.Load{load("read", "image", client, server)}, "", ""},
		"a path":         {[]plan.Load{load("read", "", serve.Need{Tool: "sysbench", Path: "/no/sysbench"})}, "workload read: find sysbench: stat /no/sysbench: no such file or directory", "install it (apt-get install sysbench), or name it with sysbench=PATH"},
		"another's host": {nil, "", ""},
	} {
		err := installed(&plan.Plan{Loads: c.loads})
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || err.Error() != c.says || hint.Of(err) != c.remedies || !errors.Is(err, facts.ErrUnsupported) || exitCode(err) != exitUnsupported {
			t.Errorf("%s: %v (%s)", name, err, hint.Of(err))
		}
	}
}
