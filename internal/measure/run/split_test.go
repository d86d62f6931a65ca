package run_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// allowed is a load whose value is the number of CPUs that its thread may use.
type allowed struct{ workload.Spin }

const allowedCommand = "__allowed"

func (allowed) Stages(workload.Values) (workload.Stages, error) {
	cpus := workload.Metric{Name: "cpus", Unit: "1", Better: +1}
	return workload.Stages{
		Threads: 1, Values: []workload.Metric{cpus}, Metrics: []workload.Metric{workload.Throughput, cpus},
		Load: func(wire.Place) workload.Task { return workload.Task{Args: []string{allowedCommand}} },
	}, nil
}

func allowedMain() int {
	m, err := counter.Open(os.NewFile(3, "counters"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	runtime.LockOSThread()
	m.SetReady()
	for s := m.Slot(0); ; {
		start := m.Begin(s)
		var set unix.CPUSet
		err := unix.SchedGetaffinity(0, &set)
		m.AddValue(0, float64(set.Count()))
		time.Sleep(time.Millisecond)
		m.End(s, start, err)
	}
}

// An arm whose neighbour stays frozen has all CPUs of the host: the isolation of another arm, which
// splits the CPUs and so binds the arm too, is undone.
func TestSplitIsTakenBack(t *testing.T) {
	testneed.Root(t)
	all := len(inspect.Host("/").Control.CPUs)
	if all < 2 {
		t.Skip("one CPU cannot be split")
	}
	e, c := beside(workload.Spin{}, map[string]string{"threads": "1"}, 8*time.Second)
	e.Workloads[0].Kind, e.Window = "allowed", 50*time.Millisecond
	c.Workload = func(string) (workload.Workload, bool) { return allowed{}, true }
	e.Named = append(e.Named[:2], experiment.ArmSpec{Name: "split", Environment: "cgroup", Neighbour: "other", Isolation: []string{"cpuset.split"}})
	r, _, err := execute(context.Background(), t, e, c)
	if err != nil {
		t.Fatal(err)
	}
	after := map[string]int{} // windows of arms that follow the split
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		last := ""
		for _, w := range l.Block.Windows {
			got, said := w.Values["cpus"].Get() // not in a window that only has the end of an operation
			if w.Dropped != "" || !said {
				continue
			}
			want := all
			if w.Arm == "split" {
				want--
			}
			if got != float64(want) {
				t.Errorf("block %d: %s, after %q, may use %v CPUs of %d, want %d", l.Block.Number, w.Arm, last, got, all, want)
			}
			if last == "split" {
				after[w.Arm]++
			}
			last = w.Arm
		}
	}
	if after["alone"]+after[plan.TwinName] == 0 {
		t.Errorf("windows after the split: %v", after)
	}
}
