package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// A plan in which every arm of a workload keeps less of a commit than the baseline is refused with the words of a run;
// one arm that is equal, a workload that writes nothing and unequal=mark are not.
func TestEquallyDurable(t *testing.T) {
	for _, name := range []string{"mariadb", "postgres"} {
		if _, err := serve.Find(t.Context(), name, "", ""); err != nil {
			testneed.Feature(t, name, err)
		}
	}
	of := func(disk bool, service string, params map[string]string, arms ...map[string]string) *plan.Plan {
		s := workload.Stages{Disk: disk}
		if service != "" {
			s.Needs = []serve.Need{{Service: service}}
		}
		l := plan.Load{Workload: record.Workload{Name: "w", Baseline: "old", Params: params}}
		for i, set := range append([]map[string]string{nil, nil}, arms...) {
			a := plan.PlannedArm{Arm: record.Arm{Name: "new", Set: set}, Stages: s}
			if i < 2 {
				a.Name, a.Twin = []string{"old", "twin"}[i], i == 1
			}
			l.Arms = append(l.Arms, a)
		}
		return &plan.Plan{Loads: []plan.Load{l}}
	}
	type set = map[string]string
	for name, c := range map[string]struct {
		p    *plan.Plan
		says string
	}{
		"a server's":       {of(true, "mariadb", nil, set{"flush_log_at_trx_commit": "2"}), "innodb_flush_log_at_trx_commit is 2 in new and 1 in old"},
		"doublewrite":      {of(true, "mariadb", nil, set{"doublewrite": "off"}), "innodb_doublewrite is off in new and on in old"},
		"of the baseline":  {of(true, "mariadb", set{"flush_log_at_trx_commit": "0"}, set{"flush_log_at_trx_commit": "1"}), "is 1 in new and 0 in old"},
		"PostgreSQL":       {of(true, "postgres", nil, set{"synchronous_commit": "off"}), "synchronous_commit is off in new and on in old"},
		"a load's":         {of(true, "", set{"sync": "fdatasync"}, set{"sync": "none"}), "param.sync is none in new and fdatasync in old"},
		"reads":            {of(false, "mariadb", nil, set{"flush_log_at_trx_commit": "2"}), ""},
		"one is equal":     {of(true, "mariadb", nil, set{"flush_log_at_trx_commit": "2"}, set{"buffer_pool": "256MiB"}), ""},
		"the same meaning": {of(true, "postgres", nil, set{"synchronous_commit": "local"}), ""},
		"no other arm":     {of(true, "mariadb", nil), ""},
	} {
		err := equallyDurable(c.p)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !errors.Is(err, run.ErrUnequal) || exitCode(err) != exitUsage || !strings.Contains(hint.Of(err), "unequal=mark") {
			t.Errorf("%s: %v, code %d", name, err, exitCode(err))
		} else if !strings.HasPrefix(err.Error(), "workload w: nothing to compare: durability is not that of old: ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		c.p.AllowUnequal = true
		if err := equallyDurable(c.p); err != nil {
			t.Errorf("%s, marked: %v", name, err)
		}
	}
}
