// Package perf counts CPU events by control group with perf_event_open(2). It knows the
// kernel's interface and not what the numbers are for.
package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event is a kind of event, by the kernel's numbers.
type Event struct {
	Type   uint32
	Config uint64
}

// Events of the CPU, and software events that every host has.
var (
	Cycles          = Event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES}
	Instructions    = Event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS}
	TaskClock       = Event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK} // ns
	ContextSwitches = Event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES}
)

// ErrNone means that this CPU shows no counters, as in most virtual machines.
var ErrNone = errors.New("this CPU shows no counters of cycles and instructions, as most virtual machines")

// Group counts events of a control group and the groups below it, on all CPUs. It is not safe
// for concurrent use.
type Group struct {
	leaders []int // by CPU; all events of a CPU are counted at the same time
	members []int
	buffer  []byte
}

// Open counts events of the control group in directory dir. That is in the hierarchy of
// perf_event: version 2, unless version 1 has it mounted. cpus are the CPUs that are online.
func Open(dir string, cpus []int, events ...Event) (_ *Group, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("count events of a control group: %w", err)
	}
	defer d.Close()
	// Each read returns the number of values, two times, and the values.
	g := &Group{buffer: make([]byte, 8*(3+len(events)))}
	defer func() {
		if err != nil {
			_ = g.Close()
		}
	}()
	for _, cpu := range cpus {
		leader := -1
		for _, e := range events {
			fd, err := open(e, int(d.Fd()), cpu, leader)
			if err != nil {
				return nil, err
			}
			if leader < 0 {
				leader = fd
				g.leaders = append(g.leaders, fd)
			} else {
				g.members = append(g.members, fd)
			}
		}
	}
	return g, nil
}

func open(e Event, group, cpu, leader int) (int, error) {
	attr := unix.PerfEventAttr{
		Type: e.Type, Config: e.Config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
	}
	fd, err := unix.PerfEventOpen(&attr, group, cpu, leader, unix.PERF_FLAG_PID_CGROUP|unix.PERF_FLAG_FD_CLOEXEC)
	switch err {
	case nil:
		return fd, nil
	case unix.ENOENT, unix.ENODEV, unix.EOPNOTSUPP:
		return -1, ErrNone
	case unix.EACCES, unix.EPERM:
		return -1, fmt.Errorf("perf_event_open: %w (kernel.perf_event_paranoid, or no CAP_PERFMON)", err)
	}
	return -1, fmt.Errorf("perf_event_open: %w", err)
}

// Read appends the count of each event so far. A CPU with too few counters counts the events in
// turns; Read then scales the counts to the whole time. It allocates nothing.
func (g *Group) Read(dst []float64) ([]float64, error) {
	first, n := len(dst), len(g.buffer)/8-3
	for range n {
		dst = append(dst, 0)
	}
	for _, fd := range g.leaders {
		if got, err := unix.Read(fd, g.buffer); err != nil || got != len(g.buffer) {
			return dst[:first], fmt.Errorf("read the counters of a CPU: %w", errors.Join(err, short(got, len(g.buffer))))
		}
		enabled, running := number(g.buffer, 1), number(g.buffer, 2)
		if running == 0 {
			continue // no task of the group ran on this CPU
		}
		for i := range n {
			dst[first+i] += number(g.buffer, 3+i) * enabled / running
		}
	}
	return dst, nil
}

func short(got, want int) error {
	if got == want || got < 0 {
		return nil
	}
	return fmt.Errorf("%d bytes of %d", got, want)
}

func number(b []byte, i int) float64 { return float64(binary.NativeEndian.Uint64(b[8*i:])) }

// Close closes the counters. It may be called twice.
func (g *Group) Close() error {
	var errs []error
	for _, fd := range append(g.members, g.leaders...) {
		errs = append(errs, unix.Close(fd))
	}
	g.members, g.leaders = nil, nil
	return errors.Join(errs...)
}
