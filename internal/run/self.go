package run

import (
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// selfUse is what tare itself used: CPU inside windows, memory, switch times.
type selfUse struct {
	cpu, window time.Duration
	switches    []float64 // seconds
	// of the open window
	cpuOpen time.Duration
	at      int64 // CLOCK_MONOTONIC ns
}

func (s *selfUse) open(now int64) { s.at, s.cpuOpen = now, cpuTime() }

func (s *selfUse) shut(now int64) {
	s.cpu += cpuTime() - s.cpuOpen
	s.window += time.Duration(now - s.at)
}

// cpuTime is the CPU time of this process so far.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (s *selfUse) summary() record.Self {
	out := record.Self{Switches: len(s.switches)}
	if s.window > 0 {
		out.CPURatio = s.cpu.Seconds() / s.window.Seconds()
	}
	// Not getrusage's: that keeps the largest of what the process was before it
	// became this program.
	if status, err := proc.FS("/").Status(os.Getpid()); err == nil {
		if kib, err := strconv.ParseUint(strings.TrimSuffix(status["VmHWM"], " kB"), 10, 64); err == nil {
			out.MaxRSS = kib * 1024
		}
	}
	if n := len(s.switches); n > 0 {
		x := append([]float64(nil), s.switches...)
		sort.Float64s(x)
		out.SwitchMedian, out.SwitchP99 = x[n/2], x[min(n-1, n*99/100)]
	}
	return out
}
