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

// cpus is what the kubelet's CPU manager gave a pod. The state of the manager is in the
// kubelet's directory, which also holds the pod's volumes.
type cpus struct {
	root    string // the kubelet's directory; empty: it was not found
	manager kube.CPUManager
}

// readCPUs finds the kubelet's directory and reads the state of its CPU manager.
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

// ownCPUs are the exclusive CPUs of the container; empty: none.
func (a *arm) ownCPUs() string {
	return a.cpus.manager.Exclusive[string(a.pod.UID)][a.pod.Spec.Containers[0].Name]
}

// changesByItself says whether a limit may change during the run: the shared CPUs become fewer
// when another pod gets exclusive ones.
func (a *arm) changesByItself(limit string) bool {
	return strings.HasPrefix(limit, "cpuset.") && a.cpus.manager.Policy == kube.StaticPolicy && a.ownCPUs() == ""
}

// cpuSettings are the exclusive CPUs of a Guaranteed pod, or why it has none; for other pods
// the shared CPUs, where the policy is static.
func (a *arm) cpuSettings() ([]record.Setting, error) {
	if a.kind.QoS != Guaranteed && a.cpus.manager.Policy != kube.StaticPolicy {
		return nil, nil
	}
	if a.cpus.root == "" {
		return []record.Setting{{Name: "pod.cpu.manager", Got: "unknown: the kubelet's directory was not found"}}, nil
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

// whyShared is the reason why the pod has no exclusive CPUs.
func (a *arm) whyShared() string {
	switch {
	case a.kind.QoS != Guaranteed:
		return "only Guaranteed pods get some"
	case a.cpus.manager.Policy != kube.StaticPolicy:
		return "the policy of the node's CPU manager is " + a.cpus.manager.Policy + ", not " + kube.StaticPolicy
	case kube.WholeCPUs(a.amounts.requests.CPU) != a.amounts.requests.CPU:
		return kube.CPUs(a.amounts.requests.CPU) + " is no whole number (cpu=" + integerWord + ")"
	}
	return "the CPU manager has given it none"
}

// quota is the CPU quota of a container with exclusive CPUs. Kubelets from 1.33 on set none,
// unless the feature gate DisableCPUQuotaWithExclusiveCPUs is off; older ones set the quota of
// the limit (kubernetes/kubernetes#70585, #127525).
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

// limit is the value of a file of the container's groups when the pod began to run.
func (a *arm) limit(name string) string {
	for _, l := range a.limits {
		if l.name == name {
			return l.value
		}
	}
	return ""
}
