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

// signalBelow sends a signal to the descendants of a process, parents first, but to this
// process and to what it may not signal. It looks again until there is no new one: a
// process that has not stopped yet can start others.
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

// mostLooks ends the search where one that may not be signalled starts others for ever.
const mostLooks = 100

// relative is a process and when it started, in ticks since the machine's start: a pid
// can be given to another process at any time.
type relative struct {
	pid   int
	start uint64
}

// descendants are those of a process, parents first.
func descendants(ancestor int) (all []relative) {
	children := map[int][]relative{}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
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

// signal signals the process if it is still that one.
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
