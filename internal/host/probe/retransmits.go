package probe

import (
	"os"

	"github.com/tarelab/tare/internal/linux/proc"
)

// retransmits observes TCP in each network namespace of the arm's processes. For an arm in the
// host's own namespace that is all TCP of the host. The open files keep the namespaces alive
// until Close. Processes that start after Open are not looked at.
type retransmits struct{}

func (retransmits) Name() string { return "TCP retransmits" }

func (retransmits) Metrics() []Metric {
	return []Metric{{Name: "net.retransmits", Unit: "1", PerOp: true,
		Help: helpNetRetransmits}}
}

func (retransmits) Open(t Target) (Reader, error) {
	m, err := processes(t)
	if err != nil {
		return nil, err
	}
	pids := m.list(nil)
	if err := m.close(); err != nil {
		return nil, err
	}
	all, seen, why := newSum(1), map[string]bool{}, error(unread{noneLeft})
	for _, pid := range pids {
		ns, nsErr := os.Readlink(proc.FS(t.Root).Pid(pid, "ns/net"))
		if nsErr == nil && seen[ns] {
			continue
		}
		one, err := openFiles(source{
			paths: []string{proc.FS(t.Root).Pid(pid, "net/snmp")}, parse: tcp, names: []string{"RetransSegs"}})
		if err != nil {
			why = err
			continue
		}
		seen[ns], all.parts = true, append(all.parts, one)
	}
	if len(all.parts) == 0 {
		return nil, why
	}
	return all, nil
}

func tcp(text []byte, dst []float64) error {
	proc.NetCounters(text, "Tcp", []string{"RetransSegs"}, dst)
	return nil
}
