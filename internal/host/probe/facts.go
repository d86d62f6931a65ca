package probe

import (
	"fmt"
	"strconv"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Facts reads the settings of the arm's first process that decide the cost of a system call or
// a branch: seccomp, mitigations against speculation, capabilities, CPUs. They are words, not
// numbers, and hold as long as the process lives.
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
		return nil, unread{noneLeft}
	}
	fs := proc.FS(t.Root)
	status, err := fs.Status(pids[0])
	if err != nil {
		return nil, fmt.Errorf("read the security state of process %d: %w", pids[0], err)
	}
	score, err := fs.OOMScoreAdj(pids[0])
	if err != nil {
		return nil, fmt.Errorf("read oom_score_adj of process %d: %w", pids[0], err)
	}
	out := append(facts(status), record.Setting{Name: "oom_score_adj", Got: score})
	return append(out, Competes(t.Root, pids[0])...), nil
}

// Competes reads by what a process competes with others for CPUs: the autogroup of its session and
// its group of the cpu controller. It leaves out what this kernel does not have.
func Competes(root string, pid int) (out []record.Setting) {
	fs := proc.FS(root)
	if a, err := fs.Autogroup(pid); err == nil {
		out = append(out, record.Setting{Name: autogroup, Got: fmt.Sprintf("%d, nice %d", a.ID, a.Nice)})
	}
	if group, err := cgroup.CPUGroup(fs, strconv.Itoa(pid)); err == nil && group != "" {
		out = append(out, record.Setting{Name: "cpu.cgroup", Got: group})
	}
	return out
}

// facts uses the names of the settings that arms read back, so that the manifest has each once.
// It leaves out what this kernel does not show.
func facts(s proc.Status) (out []record.Setting) {
	for _, f := range []struct{ name, got string }{
		{"seccomp", map[string]string{"0": "none", "1": "strict", "2": "filter"}[s["Seccomp"]]},
		{"seccomp.filters", s["Seccomp_filters"]}, // every system call runs each filter
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

// autogroup is the name of the fact with the number and the nice value of a session's autogroup. The
// kernel numbers them anew.
const autogroup = "autogroup"

// CPUsAllowed is the name of the fact with the CPUs that a process may use.
const CPUsAllowed = "cpus.allowed"
