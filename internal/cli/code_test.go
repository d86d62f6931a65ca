package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/loads/clickhouse"
	"github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/loads/redis"
	"github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// loadOf is a load of a plan with one arm.
func loadOf(t *testing.T, name string, w workload.Workload, given map[string]string) plan.Load {
	t.Helper()
	v, err := workload.Complete(w, given)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := w.Stages(v)
	if err != nil {
		t.Fatal(err)
	}
	arm := plan.PlannedArm{Stages: stages}
	return plan.Load{Workload: record.Workload{Name: name, Kind: w.Name()}, Arms: []plan.PlannedArm{arm, arm}}
}

// Each way to give tare a program or script has a line that names the account.
func TestCodeLines(t *testing.T) {
	testneed.Root(t)
	closed := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(closed, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	server := func(names ...string) string {
		a, _, err := account.First(names...)
		if err != nil {
			t.Fatal(err)
		}
		return a.Name
	}
	for _, c := range []struct {
		name  string
		w     workload.Workload
		given map[string]string
		want  []string
	}{
		{"nothing", sysbench.Workload{}, nil, nil},
		{"lua", sysbench.Workload{}, map[string]string{"script": "/root/x.lua"}, []string{"runs as nobody on this host: /root/x.lua (sysbench script of lua)"}},
		{"inside", sysbench.Workload{}, map[string]string{"script": "/root/x.lua", "client": "inside"},
			[]string{"runs as " + server("mysql", "nobody") + " on this host: /root/x.lua (sysbench script of inside)"}},
		{"client", sysbench.Workload{}, map[string]string{"script": "/x.lua", "sysbench": closed},
			[]string{"runs as root on this host: " + closed + " (sysbench program of client), /x.lua (sysbench script of client)"}},
		{"server", sysbench.Workload{}, map[string]string{"server": closed, "server_options": "--sort-buffer-size=1M"},
			[]string{"runs as root on this host: " + closed + " (server program of server), --sort-buffer-size=1M (server options of server)"}},
		{"shell", pgbench.Workload{}, map[string]string{"script": "/x.sql", "pgbench": "/bin/true"},
			[]string{"runs as nobody on this host: /bin/true (pgbench program of shell), /x.sql (statements of shell)"}},
		{"dump", pgbench.Workload{}, map[string]string{"dump": "/shop.sql.gz"},
			[]string{"runs as " + server("postgres", "nobody") + " on this host: /shop.sql.gz (dump of dump)"}},
		{"pg", pgbench.Workload{}, map[string]string{"server": "/bin/true"},
			[]string{"runs as " + server("postgres", "nobody") + " on this host: /bin/true (server program of pg)"}},
		{"kv", redis.Workload{}, map[string]string{"server": "/bin/true"},
			[]string{"runs as " + server("redis", "valkey", "nobody") + " on this host: /bin/true (server program of kv)"}},
		{"columns", clickhouse.Workload{}, map[string]string{"server": "/bin/true"},
			[]string{"runs as " + server("clickhouse", "nobody") + " on this host: /bin/true (server program of columns)"}},
		{"mine", workload.Command{}, map[string]string{"command": "make all"}, []string{"runs as root on this host: make all (command of mine)"}},
	} {
		if got := codeLines(&plan.Plan{Loads: []plan.Load{loadOf(t, c.name, c.w, c.given)}}, messages.Catalog{}); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
	if got := codeLines(&plan.Plan{PodNode: "elsewhere", Loads: []plan.Load{loadOf(t, "mine", workload.Command{}, nil)}}, messages.Catalog{}); got != nil {
		t.Errorf("on another host: %q", got)
	}
}

// Root is warned of a runtime in a directory that others can write, or that nobody known owns, in one line.
func TestWarnsOfPrograms(t *testing.T) {
	testneed.Root(t)
	for name, change := range map[string]func(dir string) error{
		"others write":   func(dir string) error { return os.Chmod(dir, 0o777) },
		"nobody owns it": func(dir string) error { return os.Chown(dir, 54321, 54321) },
		"root alone":     func(string) error { return nil },
	} {
		dir := filepath.Join("/var/tmp", fmt.Sprintf("programs-%d", os.Getpid()))
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "runc"), []byte("#!/bin/sh\n"), 0o755), change(dir)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		said, c := captured(t)
		c.warnOfPrograms()
		text := said()
		if want := name != "root alone"; strings.Contains(text, "root runs "+dir+"/runc: "+dir) != want || strings.Count(text, "\n") > 1 {
			t.Errorf("%s: %q", name, text)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}
