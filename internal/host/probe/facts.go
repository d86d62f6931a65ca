package probe

import (
	"errors"
	"fmt"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Facts reads what decides the cost of a system call or a branch in the arm and
// is a word rather than a number: seccomp, the mitigations against speculation
// that were switched on for its first process, capabilities, CPUs. They belong
// to a live process and hold as long as it does.
func Facts(t Target) ([]record.Setting, error) {
	m, err := processes(t)
	if err != nil {
		return nil, err
	}
	pids := m.list(nil)
	if err := m.close(); err != nil {
		return nil, err
	}
	if len(pids) == 0 {
		return nil, errors.New(noneLeft)
	}
	fs := proc.FS(t.Root)
	status, err := fs.Status(pids[0])
	if err != nil {
		return nil, fmt.Errorf("read the security state of process %d: %w", pids[0], err)
	}
	score, err := fs.OOMScoreAdj(pids[0])
	if err != nil {
		return nil, fmt.Errorf("read what the out-of-memory killer thinks of process %d: %w", pids[0], err)
	}
	return append(facts(status), record.Setting{Name: "oom_score_adj", Got: score}), nil
}

// facts has the names that the settings of an arm have where they are read back, so that
// each stands once. What this kernel does not say is left out.
func facts(s proc.Status) (out []record.Setting) {
	for _, f := range []struct{ name, got string }{
		{"seccomp", map[string]string{"0": "none", "1": "strict", "2": "filter"}[s["Seccomp"]]},
		{"seccomp.filters", s["Seccomp_filters"]}, // every system call pays each
		{"no_new_privs", s["NoNewPrivs"]},
		{"speculation.store_bypass", s["Speculation_Store_Bypass"]},
		{"speculation.indirect_branch", s["SpeculationIndirectBranch"]},
		{"capabilities.effective", s["CapEff"]},
		{CPUsAllowed, s["Cpus_allowed_list"]},
	} {
		if f.got != "" {
			out = append(out, record.Setting{Name: f.name, Got: f.got})
		}
	}
	return out
}

// CPUsAllowed is the name of the fact that has the CPUs of a process.
const CPUsAllowed = "cpus.allowed"
