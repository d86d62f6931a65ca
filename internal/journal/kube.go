package journal

import (
	"context"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/kube"
)

const (
	// clusterBound is how long a cluster may take to remove a namespace.
	clusterBound = 2 * time.Minute
	// awayBound is how long its API server may be away: whoever cleans up waits for
	// the answer, and can clean up again.
	awayBound = 10 * time.Second
	// volumeBound is how long a volume may take to go, likewise.
	volumeBound = 30 * time.Second
)

// Namespace removes the namespace of the run with all in it: the kubeconfig and
// the context of the cluster, the namespace's name, which is tare-<run>.
func Namespace(kubeconfig, context, name string) Step {
	return Step{Kind: kindNamespace, Root: kubeconfig, Value: context, ID: name}
}

// Pods removes the pods of the run and what they have beside them from a namespace that others use too: the
// kubeconfig and the context of the cluster, the namespace, and the run.
func Pods(kubeconfig, context, namespace, run string) Step {
	return Step{Kind: kindPods, Root: kubeconfig, Value: context, ID: namespace + "/" + Prefix + run}
}

// removeFromCluster removes what a step names there. What another one like it could not
// is not tried again.
func removeFromCluster(s Step, all *together) error {
	if err := all.failed[s]; err != nil {
		return err
	}
	remove := removeNamespace
	if s.Kind == kindPods {
		remove = removePods
	}
	err := remove(s, all)
	if err != nil {
		all.failed[s] = err
	}
	return err
}

// removePods removes them and waits until they are gone.
func removePods(s Step, all *together) error {
	c, err := kube.Access{Kubeconfig: s.Root, Context: s.Value, VolumeBound: volumeBound, Silences: &all.silences}.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	c.Patience = awayBound
	ctx, cancel := context.WithTimeout(context.Background(), clusterBound)
	defer cancel()
	namespace, run, _ := strings.Cut(s.ID, "/"+Prefix)
	if err = c.DeleteRun(ctx, namespace, run); err == nil {
		time.Sleep(time.Until(all.late))
		err = c.DeleteRun(ctx, namespace, run)
	}
	if err == nil {
		return c.AwaitNoVolumes(namespace, run)
	}
	return hint.New(err, strings.TrimPrefix(hint.Of(err)+"; ", "; ")+"by hand: kubectl delete pods,services,persistentvolumeclaims -n "+namespace+" -l "+kube.LabelRun+"="+run)
}

// PodImage removes an image from a containerd: the address of its socket, and the
// image's name, whose tag is the run.
func PodImage(address, name string) Step { return Step{Kind: kindPodImage, Root: address, ID: name} }

func (s Step) checkNamespace(run string) bool { return s.ID == kube.NamespaceOf(run) && s.Root != "" }

func (s Step) checkImage(run string) bool { return s.ID == kube.ImageOf(run) && s.Root != "" }

// removeNamespace removes it and waits until it is gone.
func removeNamespace(s Step, all *together) error {
	c, err := kube.Access{Kubeconfig: s.Root, Context: s.Value, VolumeBound: volumeBound, Silences: &all.silences}.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	c.Patience = awayBound
	run := strings.TrimPrefix(s.ID, Prefix)
	helper, err := c.LeaveHelper(context.Background(), run)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), clusterBound)
	defer cancel()
	if helper {
		err = c.RemoveHelper(ctx, run)
	} else {
		err = c.DeleteNamespace(ctx, s.ID, run)
	}
	if err == nil {
		time.Sleep(time.Until(all.late))
		err = c.DeleteNamespace(ctx, s.ID, run)
	}
	if err == nil {
		return c.AwaitNoVolumes(s.ID, run)
	}
	return hint.New(err, strings.TrimPrefix(hint.Of(err)+"; ", "; ")+"by hand: kubectl delete namespace "+s.ID)
}

func removePodImage(s Step) error { return kube.ContainerdAt(s.Root).Remove(s.ID) }
