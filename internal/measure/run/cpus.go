package run

import (
	"fmt"
	"os"

	"k8s.io/utils/cpuset"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// warnOfCPUs tells an arm that may use CPUs which tare itself may not. What taskset,
// or CPUAffinity= of a unit, says of tare holds for what tare starts: not for
// a container that a daemon starts, and before Linux 6.2 not in a control group with
// the cpuset controller. The host's arm is kept to those CPUs all the same. It is for
// arms on this host: the numbers of another one's CPUs say nothing.
func (l *loadRun) warnOfCPUs(arm string, settings []record.Setting) {
	own, err := proc.FS("/").Status(os.Getpid())
	if err != nil {
		return
	}
	for _, s := range settings {
		if s.Name == probe.CPUsAllowed && beyond(own["Cpus_allowed_list"], s.Got) {
			l.warn(record.Warning{
				Workload: l.load.Name, Arm: arm,
				Text: fmt.Sprintf("may use the CPUs %s, where tare and what it starts on the host are kept to %s: "+
					"its difference from the host is also that of the CPUs", s.Got, own["Cpus_allowed_list"]),
				Remedy: "start tare without taskset or CPUAffinity=, and keep arms to CPUs by their key cpuset",
			})
		}
	}
}

// beyond says that one list of CPUs has some that are not on the other; lists that
// cannot be read say nothing.
func beyond(own, other string) bool {
	a, err := cpuset.Parse(own)
	if err != nil || a.IsEmpty() {
		return false
	}
	b, err := cpuset.Parse(other)
	return err == nil && !b.IsSubsetOf(a)
}
