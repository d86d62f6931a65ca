package cgroup

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// StillEnabled are controllers of version 2 that tare enabled and cannot disable because processes that
// are not tare's lock the directory, as any user can.
type StillEnabled struct {
	Dir         string
	Controllers []string
	By          []string // processes, as "flock (4711)"; empty: the kernel does not show them
}

// Said is which controllers stay enabled, where, and why.
func (k *StillEnabled) Said() record.Said {
	controllers := strings.Join(k.Controllers, " ")
	if len(k.By) == 0 {
		return record.Say("still_enabled", "controllers", controllers, "dir", k.Dir)
	}
	return record.Say("still_enabled_by", "controllers", controllers, "dir", k.Dir, "by", strings.Join(k.By, ", "))
}

// Remedy says what to type.
func (k *StillEnabled) Remedy() record.Said { return record.Say("end_lock_holder") }

// StillEnabled are the controllers that stay enabled in the directory below which groups are made. nil:
// there are none, or other runs of tare use them and disable them at their end.
func (t *Tree) StillEnabled() *StillEnabled {
	dir := t.at[Unified]
	if dir == "" {
		return nil
	}
	k := &StillEnabled{Dir: dir, Controllers: slices.DeleteFunc(noted(dir), func(n string) bool { return n == noteLeaf })}
	if len(k.Controllers) == 0 {
		return nil
	}
	lock, err := lockExclusive(dir)
	if lock != nil || err != nil {
		if lock != nil {
			lock.Close()
		}
		return nil // the next run disables them
	}
	pids := holders(dir)
	for _, pid := range pids {
		if !tareItself(pid) {
			k.By = append(k.By, fmt.Sprintf("%s (%d)", t.command(pid), pid))
		}
	}
	if len(pids) > 0 && len(k.By) == 0 {
		return nil
	}
	return k
}

// holders are the processes of this pid namespace that lock a directory.
func holders(dir string) (pids []int) {
	var st unix.Stat_t
	text, err := os.ReadFile("/proc/locks")
	if err != nil || unix.Stat(dir, &st) != nil {
		return nil
	}
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // 1: FLOCK ADVISORY WRITE 25342 fe:00:10003702 0 EOF; a waiter has -> after the number
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != file {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// tareItself says whether a process runs this program.
func tareItself(pid int) bool {
	own, err := os.Stat("/proc/self/exe")
	other, oerr := os.Stat(proc.FS("/").Pid(pid, "exe"))
	return err == nil && oerr == nil && os.SameFile(own, other)
}
