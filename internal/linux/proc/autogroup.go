package proc

import (
	"fmt"
	"strings"
)

// Autogroup is the scheduling group of a session. The kernel makes one for each new session and
// divides the CPUs among these groups, unless kernel.sched_autogroup_enabled is 0. It holds only
// for processes that are in no cpu control group.
type Autogroup struct {
	ID   int
	Nice int // of the whole session against others
}

// Autogroup reads the scheduling group of a process's session. A kernel without
// CONFIG_SCHED_AUTOGROUP has no such file.
func (f FS) Autogroup(pid int) (Autogroup, error) {
	b, err := f.Text(fmt.Sprintf("proc/%d/autogroup", pid))
	if err != nil {
		return Autogroup{}, err
	}
	return parseAutogroup(b)
}

// parseAutogroup parses the text of /proc/PID/autogroup: "/autogroup-25 nice 0".
func parseAutogroup(text []byte) (a Autogroup, err error) {
	if n, _ := fmt.Sscanf(strings.TrimSpace(string(text)), "/autogroup-%d nice %d", &a.ID, &a.Nice); n != 2 {
		return Autogroup{}, malformed("autogroup file of a process")
	}
	return a, nil
}
