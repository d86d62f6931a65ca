package probe

import (
	"math"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// self observes tare itself: the process that calls Read, without the loads, which are other
// processes. The memory is read from /proc, because the maximum of getrusage(2) includes the
// program that started tare.
type self struct{}

func (self) Name() string { return "tare itself" }

func (self) Metrics() []Metric {
	return []Metric{
		{Name: "self.cpu", Unit: "s", Help: helpSelfCPU},
		{Name: "self.thread_cpu", Unit: "s", Help: helpSelfThreadCPU},
		{Name: "self.memory", Unit: "B", Kind: Level, Help: helpSelfMemory},
		{Name: "self.max_memory", Unit: "B", Kind: Level, Help: helpSelfMaxMemory},
	}
}

func (self) Open(t Target) (Reader, error) {
	status, err := openFiles(source{
		paths: []string{proc.FS(t.Root).Path("proc/self/status")},
		parse: keyed(1, "VmRSS", "VmHWM"), names: []string{"VmRSS", "VmHWM"}})
	return &selfReader{status: status, why: err}, nil
}

type selfReader struct {
	noEdges
	status files
	why    error
}

// Read must be called on the thread that controls the run: it reads the CPU clock of the
// calling thread.
func (r *selfReader) Read(dst []float64) []float64 {
	dst = append(dst, float64(sched.ProcessCPU())*1e-9, float64(sched.ThreadCPU())*1e-9)
	if r.why != nil {
		return append(dst, math.NaN(), math.NaN())
	}
	return r.status.Read(dst)
}

func (r *selfReader) Reason(i int) record.Said {
	if r.why != nil {
		return whyOf(r.why)
	}
	return r.status.Reason(i - 2)
}

func (r *selfReader) Close() error { return r.status.Close() }
