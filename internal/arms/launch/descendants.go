package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
)

// signalBelow sends a signal to the descendants of a process, parents first, but not to this
// process. It looks again until it finds no new process: a process that has not stopped yet can
// start others.
func signalBelow(ancestor int, s syscall.Signal) {
	seen := map[int]bool{os.Getpid(): true}
	for more, looks := true, 0; more && looks < mostLooks; looks++ {
		more = false
		for _, p := range descendants(ancestor) {
			if !seen[p.pid] {
				seen[p.pid], more = true, true
				p.signal(s)
			}
		}
	}
}

// mostLooks ends the search below a process that cannot be signalled and starts others forever.
const mostLooks = 100

// relative is a process with its start time in clock ticks since boot. The kernel reuses pids;
// two processes with one pid have different start times.
type relative struct {
	pid   int
	start uint64
}

// Descendants are the pids of the descendants of a process, parents first.
func Descendants(ancestor int) (pids []int) {
	for _, p := range descendants(ancestor) {
		pids = append(pids, p.pid)
	}
	return pids
}

// descendants are the descendants of a process, parents first.
func descendants(ancestor int) (all []relative) {
	children := map[int][]relative{}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // fails only for a bad pattern
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if p, err := proc.FS("/").Process(pid); err == nil {
			children[p.Parent] = append(children[p.Parent], relative{pid, p.Start})
		}
	}
	for next := children[ancestor]; len(next) > 0; next = next[1:] {
		all = append(all, next[0])
		next = slices.Concat(next, children[next[0].pid])
	}
	return all
}

// lives says whether the process is there and has not ended.
func (r relative) lives() bool {
	p, err := proc.FS("/").Process(r.pid)
	return err == nil && p.Start == r.start && !p.Over() && r.pid > 1
}

// signal signals the process unless another one has its pid now.
func (r relative) signal(s syscall.Signal) {
	fd, err := unix.PidfdOpen(r.pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if p, err := proc.FS("/").Process(r.pid); err == nil && p.Start == r.start {
		_ = unix.PidfdSendSignal(fd, unix.Signal(s), nil, 0)
	}
}
