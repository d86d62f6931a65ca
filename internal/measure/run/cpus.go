package run

import (
	"os"

	"k8s.io/utils/cpuset"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// warnOfCPUs warns of an arm that may use CPUs which tare itself may not use. taskset, or
// CPUAffinity= of a unit, binds the processes that tare starts, as the host's arm. It does not bind
// a container that a daemon starts, nor, before Linux 6.2, tasks in a control group with the cpuset
// controller. Only for arms on this host.
func (l *loadRun) warnOfCPUs(arm string, settings []record.Setting) {
	own, err := proc.FS("/").Status(os.Getpid())
	if err != nil {
		return
	}
	for _, s := range settings {
		if s.Name == probe.CPUsAllowed && beyond(own["Cpus_allowed_list"], s.Got) {
			l.run.rec.warn(moreCPUs(s.Got, own["Cpus_allowed_list"]).of(l.load.Name, arm))
		}
	}
}

// beyond says whether the list of CPUs other has CPUs that own has not; false if a list cannot be
// read.
func beyond(own, other string) bool {
	a, err := cpuset.Parse(own)
	if err != nil || a.IsEmpty() {
		return false
	}
	b, err := cpuset.Parse(other)
	return err == nil && !b.IsSubsetOf(a)
}
