package probe

import (
	"errors"
	"os"

	"github.com/tarelab/tare/internal/linux/proc"
)

// runQueue observes how long the arm's threads were ready to run and waited for a CPU, behind
// other threads or in a throttled group. It adds up /proc/TID/schedstat of all threads. The
// waits of a thread between its last reading and its end are lost.
type runQueue struct{}

func (runQueue) Name() string { return "run queue" }

func (runQueue) Metrics() []Metric {
	return []Metric{
		{Name: "cpu.wait", Unit: "s", PerOp: true,
			Help: helpCPUWait},
		{Name: "cpu.turns", Unit: "1", PerOp: true,
			Help: helpCPUTurns},
	}
}

func (runQueue) Open(t Target) (Reader, error) {
	if err := countsWaiting(proc.FS(t.Root)); err != nil {
		return nil, err
	}
	m, err := threads(t)
	if err != nil {
		return nil, err
	}
	return &follow{root: proc.FS(t.Root), members: m, file: "schedstat", width: 2, parse: waitAndTurns}, nil
}

func waitAndTurns(_ int, text []byte, dst []float64) error {
	_, wait, turns, err := proc.SchedStat(text)
	dst[0], dst[1] = wait, turns
	return err
}

// countsWaiting returns nil if this kernel counts run-queue waits. A kernel that does not shows
// zeros even for the process that reads.
func countsWaiting(root proc.FS) error {
	text, err := root.Text("proc/self/schedstat")
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("this kernel has no schedstat of processes: it was built without CONFIG_SCHED_INFO")
	}
	if err != nil {
		return err
	}
	run, wait, turns, err := proc.SchedStat(text)
	if err == nil && run == 0 && wait == 0 && turns == 0 {
		err = errors.New("this kernel does not count run-queue waits (schedstat of processes is all zeros)")
	}
	return err
}
