package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/record"
)

// podThing is a container of a pod, which the API server resizes in place.
type podThing struct {
	cluster                    *kube.Cluster
	namespace, name, container string
}

func (t podThing) word() string { return t.namespace + "/" + t.name + "/" + t.container }

func openPod(ctx context.Context, word string, access kube.Access) (podThing, error) {
	c, err := access.Connect()
	if err != nil {
		return podThing{}, err
	}
	parts := append(strings.Split(word, "/"), "")
	t := podThing{c, parts[0], parts[1], parts[2]}
	p, err := c.Pod(ctx, t.namespace, t.name)
	if errors.Is(err, kube.ErrNone) {
		return t, noTarget(seePods(t.namespace), "no pod %s/%s", t.namespace, t.name)
	}
	if err != nil {
		return t, err
	}
	var names []string
	for _, x := range p.Spec.Containers {
		names = append(names, x.Name)
		if t.container == x.Name {
			return t, nil
		}
	}
	if t.container == "" && len(names) == 1 {
		t.container = names[0]
		return t, nil
	}
	return t, hint.New(fmt.Errorf("pod %s/%s has the containers %s", t.namespace, t.name, strings.Join(names, ", ")), "pod:"+t.namespace+"/"+t.name+"/CONTAINER")
}

// The amounts are the names of a pod's settings.
const (
	limitCPU, requestCPU, bothCPU          = "limits.cpu", "requests.cpu", "requests and limits.cpu"
	limitMemory, requestMemory, bothMemory = "limits.memory", "requests.memory", "requests and limits.memory"
)

// amountNames are the amounts of a key: alone, and in a pod of class Guaranteed.
func amountNames() map[record.SettingKey][]string {
	return map[record.SettingKey][]string{
		record.KeyCPUMax: {limitCPU, bothCPU}, record.KeyPodCPULimit: {limitCPU, bothCPU}, record.KeyPodCPURequest: {requestCPU, bothCPU},
		record.KeyMemoryMax: {limitMemory, bothMemory}, record.KeyPodMemoryLimit: {limitMemory, bothMemory},
		record.KeyPodMemoryRequest: {requestMemory, bothMemory},
	}
}

// amount is the amount with a name.
func (t podThing) amount(name string) kube.Amount {
	a := kube.Amount{
		Container: t.container, Limit: strings.Contains(name, "limits"), Request: strings.Contains(name, "requests"), Resource: corev1.ResourceCPU,
	}
	if strings.HasSuffix(name, "memory") {
		a.Resource = corev1.ResourceMemory
	}
	return a
}

func (t podThing) change(ctx context.Context, s record.RemedySetting) (Step, error) {
	if err := never(s.Key); err != nil {
		return Step{}, err
	}
	names := amountNames()[s.Key]
	if names == nil {
		return Step{}, errors.New(noResizeKey)
	}
	p, err := t.cluster.Pod(ctx, t.namespace, t.name)
	if err != nil {
		return Step{}, err
	}
	name := names[0]
	if p.Status.QOSClass == corev1.PodQOSGuaranteed { // which needs requests equal to limits
		name = names[1]
	}
	a := t.amount(name)
	from, ok := a.Of(p)
	if !ok || s.Value == "" {
		return Step{}, errors.New(noResizeOff)
	}
	if a.Restarts(p) {
		return Step{}, errors.New(noRestart)
	}
	to, err := resource.ParseQuantity(s.Value)
	if err != nil {
		return Step{}, fmt.Errorf("value %q: %w", s.Value, err)
	}
	if err := t.cluster.CanResize(ctx, t.namespace, t.name, a, to); err != nil {
		return Step{}, err
	}
	out := Step{
		Name: name, From: text(a, from), To: text(a, to), Same: string(p.UID) + "/" + t.container,
		Owner: t.cluster.Kubeconfig, Context: t.cluster.Context,
	}
	out.Back = out.From
	return out, nil
}

// text is a quantity in one form: millicores, or bytes.
func text(a kube.Amount, q resource.Quantity) string {
	if a.Resource == corev1.ResourceCPU {
		return fmt.Sprintf("%dm", q.MilliValue())
	}
	return fmt.Sprint(q.Value())
}

func (t podThing) read(ctx context.Context, s Step) (string, error) {
	p, err := t.cluster.Pod(ctx, t.namespace, t.name)
	if errors.Is(err, kube.ErrNone) {
		return "", errGone
	}
	if err != nil {
		return "", err
	}
	if string(p.UID)+"/"+t.container != s.Same {
		return "", errGone
	}
	a := t.amount(s.Name)
	q, _ := a.Of(p)
	return text(a, q), nil
}

func (t podThing) write(ctx context.Context, s Step, value string) error {
	q, err := resource.ParseQuantity(value)
	if err != nil {
		return err
	}
	return t.cluster.Resize(ctx, t.namespace, t.name, t.amount(s.Name), q)
}

func (t podThing) restore(ctx context.Context, s Step) error { return t.write(ctx, s, s.Back) }

// group is the container's control group if the pod is on this host.
func (t podThing) group(ctx context.Context) (cgroup.Group, error) {
	p, err := t.cluster.Pod(ctx, t.namespace, t.name)
	if err != nil {
		return cgroup.Group{}, err
	}
	tree, err := cgroup.Detect("/")
	if err != nil {
		return cgroup.Group{}, err
	}
	for _, s := range p.Status.ContainerStatuses {
		_, id, ok := strings.Cut(s.ContainerID, "://")
		if s.Name == t.container && ok {
			return groupNamed(tree, id)
		}
	}
	return cgroup.Group{}, errors.New(notRunning)
}

// groupNamed finds the group of a container by the container's id.
func groupNamed(tree *cgroup.Tree, id string) (cgroup.Group, error) {
	root := tree.V1["cpu"]
	if root == "" {
		root = tree.V2
	}
	found := ""
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(d.Name(), id) {
			found = strings.TrimPrefix(path, root)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || found == "" {
		return cgroup.Group{}, errors.New(otherNode)
	}
	g := groupAt(tree, func(string) string { return found })
	g.Path = found
	return g, nil
}
