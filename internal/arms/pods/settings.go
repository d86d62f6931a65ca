package pods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/record"
)

// limit is a file of the container's groups that the kubelet or the runtime writes.
type limit struct{ name, path, value string }

// limitFiles are the files of limits by controller, of both versions of control groups.
var limitFiles = map[string][]string{
	"cpu":    {"cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.weight", "cpu.max"},
	"memory": {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max", "memory.swap.max", "memory.min", "memory.oom.group"},
	"pids":   {"pids.max"},
	"cpuset": {"cpuset.cpus", "cpuset.cpus.effective"},
}

// readLimits reads the files that exist.
func readLimits(g cgroup.Group) ([]limit, error) {
	var all []limit
	for _, c := range []string{"cpu", "memory", "pids", "cpuset"} {
		for _, name := range limitFiles[c] {
			path := filepath.Join(g.Dirs[c], name)
			b, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read back the pod's limits: %w", err)
			}
			value := strings.TrimSpace(string(b))
			if value == "" {
				value = "all"
			}
			all = append(all, limit{name, path, value})
		}
	}
	return all, nil
}

// Settings reads back the pod: names from the cluster, the rest from the kernel. A limit that
// changed since the pod began to run is an error.
func (a *arm) Settings() ([]record.Setting, error) {
	all := []record.Setting{{Name: "cgroup", Got: a.Group.Path}, {Name: "freezer", Got: a.Freezer.Kind()}}
	var errs []error
	all = append(all, podSettings(a.node, a.pod, a.amounts, a.clientPlace(), a.kind.allNeeds(a.Spec))...)
	all = append(all, volumeSettings(a.spec.Volume, a.persistent)...)
	routeSettings, err := a.route.settings(a.kind.Levels.network)
	all, errs = append(all, routeSettings...), append(errs, err)
	cpus, err := a.cpuSettings()
	all, errs = append(all, cpus...), append(errs, err)
	now, err := readLimits(a.Group)
	errs = append(errs, err)
	for i, l := range now {
		s := record.Setting{Name: l.name, Got: l.value}
		if i < len(a.limits) && a.limits[i].path == l.path && !a.changesByItself(l.name) {
			s, err = launch.Wanted(l.name, a.limits[i].value, l.value)
			errs = append(errs, err)
		}
		all = append(all, s)
	}
	its, err := a.inside.ReadBack(a.expect)
	return append(all, its...), errors.Join(append(errs, err)...)
}

// podSettings is the pod as the cluster describes it. client says where the client runs.
func podSettings(node *corev1.Node, pod *corev1.Pod, amounts podAmounts, client string, needs []string) (all []record.Setting) {
	info := node.Status.NodeInfo
	add := func(name, got string) {
		if got != "" {
			all = append(all, record.Setting{Name: name, Got: got})
		}
	}
	add("kube.node", node.Name)
	add("kube.kubelet", info.KubeletVersion)
	add("kube.runtime", info.ContainerRuntimeVersion)
	add("client", client)
	add("pod.qos", string(pod.Status.QOSClass))
	add("pod.image", pod.Status.ContainerStatuses[0].Image)
	add("pod.image.id", pod.Status.ContainerStatuses[0].ImageID)
	add("pod.cpu.max", amounts.why)
	add("pod.security", strings.Join(needs, "; "))
	for _, x := range []struct {
		name string
		kube.Amounts
	}{{"requests", amounts.requests}, {"limits", amounts.limits}} {
		if x.CPU > 0 {
			add("pod."+x.name+".cpu", kube.CPUs(x.CPU))
		}
		if x.Memory > 0 {
			add("pod."+x.name+".memory", kube.Bytes(x.Memory))
		}
	}
	return all
}

// expect is the security context that the pod has to have.
func (a *arm) expect() launch.Expect {
	e := launch.Expect{Own: []string{"mnt", "pid", "ipc"}, Capabilities: []string{}, Seccomp: true, Chosen: environment.Container{AppArmor: a.kind.Levels.apparmor}}
	if !a.spec.HostNetwork {
		e.Own = append(e.Own, "net", "uts")
	}
	if a.own.Tree.Layout == cgroup.V2 {
		e.Own = append(e.Own, "cgroup")
	}
	return e
}

// Reproduction is a manifest of the namespace and the pods.
func (a *arm) Reproduction() (string, []byte) {
	comment := fmt.Sprintf(`The pod of the arm %s of run %s, as tare made it: %s.
To make it by hand: kubectl apply -f. The image is tare's own and is gone with the
run; put another one and a command there. What made the arm are the requests and
limits, which give the QoS class %s, the security context and the volumes.
`, a.Spec.Arm, a.Spec.Run, said.English(a.kind.Title()), a.kind.QoS)
	if a.amounts.why != "" {
		comment += "The most CPU that fits: " + a.amounts.why + ".\n"
	}
	objects := []any{kube.Namespace(a.Spec.Run, a.kind.allNeeds(a.Spec))}
	if a.spec.Volume.Class != "" {
		objects = append(objects, a.spec.Claim())
	}
	objects = append(objects, a.spec.Pod())
	if a.spec.Service {
		objects = append(objects, a.spec.ServiceOf())
	}
	if a.client != nil {
		comment += "The client of its server ran in the other pod, " + a.client.pod.Name + ".\n"
		objects = append(objects, a.client.spec.Pod())
	}
	if a.Spec.Neighbour != nil {
		comment += fmt.Sprintf("It is a neighbour: tare limited its container to %s of memory and %d processes.\n",
			kube.Bytes(int64(a.Spec.Neighbour.Limits.Memory)), a.Spec.Neighbour.Limits.Pids)
	}
	text, err := kube.Manifest(comment, objects...)
	if err != nil { // never: the objects are tare's own
		text = []byte("# " + err.Error() + "\n")
	}
	return a.Spec.Arm + ".yaml", text
}
