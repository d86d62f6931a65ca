package run

import (
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// selfUse is what tare itself used: CPU inside windows, memory, switch times.
type selfUse struct {
	cpu, window time.Duration
	switches    []float64 // seconds
}

// add takes what tare used in a window. A freezer's switch is kept too.
func (s *selfUse) add(seen wire.Sample, frozen bool) {
	s.cpu += seen.Self
	s.window += seen.SelfWall
	if frozen && seen.Ran > 0 {
		s.switches = append(s.switches, (seen.Thawing + seen.Pausing).Seconds())
	}
}

// forgetPeak gives back what planning and the look at the noise needed, and has the
// kernel forget the most that it was: what counts is what is there beside the load.
func forgetPeak() {
	debug.FreeOSMemory()
	unmapProgram()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // without it the peak is the larger one
}

// unmapProgram gives back the pages of this program's own file, of which planning
// needed the most: those that are needed again come from the kernel's cache. Parts that
// were written to (by the loader of an executable that may lie anywhere) stay.
func unmapProgram() {
	exe, err := os.Readlink("/proc/self/exe")
	smaps, rerr := os.ReadFile("/proc/self/smaps")
	if err != nil || rerr != nil {
		return
	}
	var from, to uintptr // 0: not of the program
	for line := range strings.Lines(string(smaps)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 6 && f[5] == exe && !strings.Contains(f[1], "w"):
			if _, err := fmt.Sscanf(f[0], "%x-%x", &from, &to); err != nil {
				return
			}
		case len(f) >= 5 && !strings.HasSuffix(f[0], ":"):
			from = 0
		case f[0] == "Anonymous:" && f[1] == "0" && from != 0:
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
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
