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

func facts(s proc.Status) []record.Setting {
	out := []record.Setting{{Name: "seccomp", Got: seccompWord(s)}}
	for _, f := range []struct{ name, key string }{
		{"no new privileges", "NoNewPrivs"},
		{"speculative store bypass", "Speculation_Store_Bypass"},
		{"indirect branch speculation", "SpeculationIndirectBranch"},
		{"capabilities", "CapEff"},
		{"CPUs allowed", "Cpus_allowed_list"},
	} {
		out = append(out, record.Setting{Name: f.name, Got: orNotSaid(s[f.key])})
	}
	return out
}

// seccompWord is the mode of seccomp(2), with the number of filters, of which
// every system call pays each.
func seccompWord(s proc.Status) string {
	switch s["Seccomp"] {
	case "0":
		return "off"
	case "1":
		return "strict"
	case "2":
		if n := s["Seccomp_filters"]; n != "" {
			return "filter (" + n + ")"
		}
		return "filter"
	}
	return orNotSaid(s["Seccomp"])
}

func orNotSaid(s string) string {
	if s == "" {
		return "not said by this kernel"
	}
	return s
}
