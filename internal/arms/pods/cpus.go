package pods

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/record"
)

// cpus is what the kubelet's CPU manager has given a pod. Nobody need be asked:
// the kubelet's directory is that of the pod's own volumes.
type cpus struct {
	root    string // of the kubelet; empty: it was not found
	manager kube.CPUManager
}

// readCPUs looks for the kubelet and reads what its CPU manager has done.
func (a *arm) readCPUs(pid int) error {
	dir, err := onHost(pid, path.Dir(kube.Socket))
	if err != nil {
		return err
	}
	root, _, ok := strings.Cut(dir, "/pods/"+string(a.pod.UID)+"/")
	if !ok {
		return nil
	}
	a.cpus.root = root
	a.cpus.manager, err = kube.ReadCPUManager(root)
	return err
}

// ownCPUs are the CPUs that the container has to itself.
func (a *arm) ownCPUs() string {
	return a.cpus.manager.Exclusive[string(a.pod.UID)][a.pod.Spec.Containers[0].Name]
}

// moves says whether a limit changes without anybody's doing: what is left to a
// container without CPUs of its own is less when others get some.
func (a *arm) moves(limit string) bool {
	return strings.HasPrefix(limit, "cpuset.") && a.cpus.manager.Policy == kube.StaticPolicy && a.ownCPUs() == ""
}

// cpuSettings say whether the pod has CPUs to itself, and which. Every Guaranteed
// pod says it; others say what is left to them.
func (a *arm) cpuSettings() ([]record.Setting, error) {
	if a.kind.QoS != Guaranteed && a.cpus.manager.Policy != kube.StaticPolicy {
		return nil, nil
	}
	if a.cpus.root == "" {
		return []record.Setting{{Name: "pod.cpu.manager", Got: "not known: the kubelet's directory was not found"}}, nil
	}
	now, err := kube.ReadCPUManager(a.cpus.root)
	if err != nil {
		return nil, err
	}
	all := []record.Setting{{Name: "pod.cpu.manager", Got: now.Policy}}
	own := a.ownCPUs()
	if own == "" {
		all = append(all, record.Setting{Name: "pod.cpu.exclusive", Got: "none: " + a.whyShared()})
		if now.Policy == kube.StaticPolicy {
			all = append(all, record.Setting{Name: "pod.cpu.pool", Got: cmp.Or(now.Shared, "all")})
		}
		return all, nil
	}
	set := a.limit("cpuset.cpus")
	exclusive, setErr := launch.Wanted("pod.cpu.exclusive", own, set)
	quota, quotaErr := a.quota()
	return append(all, exclusive, quota), errors.Join(setErr, quotaErr)
}

// whyShared says why the pod has no CPUs to itself.
func (a *arm) whyShared() string {
	switch {
	case a.kind.QoS != Guaranteed:
		return "only Guaranteed pods get some"
	case a.cpus.manager.Policy != kube.StaticPolicy:
		return "the policy of the node's CPU manager is " + a.cpus.manager.Policy + ", not " + kube.StaticPolicy
	case kube.WholeCPUs(a.asks.requests.CPU) != a.asks.requests.CPU:
		return kube.CPUs(a.asks.requests.CPU) + " is no whole number (cpu=" + integerWord + ")"
	}
	return "the CPU manager has given it none"
}

// quota says what the container's quota is beside CPUs of its own. A kubelet from
// 1.33 on sets none, unless its feature gate DisableCPUQuotaWithExclusiveCPUs is
// off; one before sets that of the limit (kubernetes/kubernetes#70585, #127525).
func (a *arm) quota() (record.Setting, error) {
	s := record.Setting{Name: "pod.cpu.quota"}
	value := cmp.Or(a.limit("cpu.cfs_quota_us"), a.limit("cpu.max"))
	switch {
	case value == "":
		return s, errors.New("read back the quota: the container has neither cpu.cfs_quota_us nor cpu.max")
	case value == "-1" || strings.HasPrefix(value, "max"):
		s.Got = "none beside exclusive CPUs, as from Kubernetes 1.33 on"
	default:
		s.Got = fmt.Sprintf("%s beside exclusive CPUs, as before Kubernetes 1.33 or without DisableCPUQuotaWithExclusiveCPUs", value)
	}
	return s, nil
}

// limit is the value of a file of the container's groups when the pod began.
func (a *arm) limit(name string) string {
	for _, l := range a.limits {
		if l.name == name {
			return l.value
		}
	}
	return ""
}
