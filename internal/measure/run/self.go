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

// selfUse is what tare itself used in windows.
type selfUse struct {
	cpu, window time.Duration // CPU time, and time of the windows
	switches    []float64     // seconds of a thaw and a freeze
}

// add adds a window. frozen says that a freezer paused the arm, whose switch time counts.
func (s *selfUse) add(seen wire.Sample, frozen bool) {
	s.cpu += seen.Self
	s.window += seen.SelfWall
	if frozen && seen.Ran > 0 {
		s.switches = append(s.switches, (seen.Thawing + seen.Pausing).Seconds())
	}
}

// forgetPeak frees the memory that planning and the look at the noise needed, and resets VmHWM, the
// kernel's peak of resident memory: the summary is to say what tare used beside the load.
func forgetPeak() {
	debug.FreeOSMemory()
	unmapProgram()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // if it fails, the summary has the larger peak
}

// unmapProgram drops the resident pages of this program's own file, most of which only planning
// needed. The kernel maps a page again from the page cache when it is used. Writable mappings, and
// pages that the loader of a position-independent executable wrote to, stay.
func unmapProgram() {
	exe, err := os.Readlink("/proc/self/exe")
	smaps, rerr := os.ReadFile("/proc/self/smaps")
	if err != nil || rerr != nil {
		return
	}
	var from, to uintptr // of a mapping; 0: it is not of the program's file
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
	// ru_maxrss of getrusage would include the process before it became this program.
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
