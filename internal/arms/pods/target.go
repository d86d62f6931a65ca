package pods

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/record"
)

// Target is the cluster of the pods: how tare reaches it, its answers to Ask, and what the arms
// of a run share in it.
type Target struct {
	kube.Access

	mu      sync.Mutex
	answers map[string]facts.Support // by Pod.word
	node    string                   // of the pods; empty: this host
	shares  map[string]*shared       // by run
	outages kube.Outages
}

// Connect connects to the cluster. All connections share the times in which it did not answer.
func (t *Target) Connect() (*kube.Cluster, error) {
	a := t.Access
	a.Outages = &t.outages
	return a.Connect()
}

// Told calls tell, from any goroutine, when the cluster stops answering and when it answers
// again.
func (t *Target) Told(tell func(messages.Message)) { t.outages.Told(tell) }

// Warnings are about the times in which the cluster did not answer.
func (t *Target) Warnings() (all []record.Warning) {
	for _, away := range t.outages.Past() {
		all = append(all, record.Warning{
			Text:   away.Said(),
			Remedy: record.Say("cluster_was_waited_for"),
		})
	}
	return all
}

// askBound is how long the cluster may take for all questions of one function.
const askBound = 10 * time.Second

// Ask asks the cluster whether tare can have pods of these kinds, on this node or on another
// one over a stream. Pod.Support returns the answers and asks nobody.
func (t *Target) Ask(h facts.Host, pods ...Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers == nil {
		t.answers = map[string]facts.Support{}
	}
	var general facts.Support
	general, t.node = t.reachable(h)
	for _, p := range pods {
		answer := general
		if answer.Answer == facts.Yes {
			answer = t.supportOf(p, h)
		}
		t.answers[p.word()] = answer
	}
}

// supportOf is the answer for one kind of pod in a cluster that can have pods.
func (t *Target) supportOf(p Pod, h facts.Host) facts.Support {
	if err := p.check(t.node != ""); err != nil {
		return facts.Refused(err)
	}
	if more := p.Rights(); len(more) > 0 {
		if answer, _ := t.reachable(h, more); answer.Answer != facts.Yes {
			return answer
		}
	}
	if err := t.refusal(p); err != nil {
		return facts.Refused(err)
	}
	return facts.Supported()
}

// refusal is why the cluster would refuse such a pod, as far as it tells before one is created;
// nil: it would not, or it does not tell.
func (t *Target) refusal(p Pod) error {
	class := p.Levels.volume.Class
	if class == "" && t.Namespace == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := t.Connect()
	if err != nil {
		return nil // the cluster answered a moment ago; Open reports the error
	}
	defer c.Close()
	if class != "" {
		if err := c.ClassMissing(ctx, class); err != nil {
			return err
		}
	}
	if t.node == "" || c.Namespace == "" { // the run's own namespace does not exist yet
		return nil
	}
	return c.Refuses(ctx, p.expectedSpec(t.node, c.Namespace))
}

// planned is the run id of a pod that is not created.
const planned = "plan"

// expectedSpec is the pod as far as it is known before a run, with small amounts in place of
// those that depend on what fits.
func (p Pod) expectedSpec(node, namespace string) kube.PodSpec {
	l := p.withDefaults()
	s := kube.PodSpec{Run: planned, Arm: p.Name(), Node: node, Namespace: namespace, Other: p.remoteImage(), Volume: p.Levels.volume.Volume}
	s.Requests = kube.Amounts{CPU: l.cpu.n, Memory: l.memory.n}
	if l.cpu.max {
		s.Requests.CPU = usualCPU
	}
	if l.memory.max {
		s.Requests.Memory = usualMemory
	}
	s.Limits = kube.Amounts{CPU: l.cpuLimit.n, Memory: l.memoryLimit.n}
	if p.QoS == Guaranteed {
		s.Limits = s.Requests
	}
	if s.Volume.Class != "" {
		s.Volume.Size = cmp.Or(p.Levels.size.n, claimSize(0))
	}
	return s
}

// answer is the cluster's answer about a pod.
func (t *Target) answer(p Pod) facts.Support {
	if t == nil {
		return facts.Unsupported(record.Say("no_cluster_named"), record.Said{})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.answers[p.word()]; ok {
		return s
	}
	return facts.Unsupported(record.Say("cluster_not_asked"), record.Said{})
}

// Elsewhere is the node of the pods; empty if it is this host, or before Ask.
func (t *Target) Elsewhere() string {
	if t.PodNode != "" {
		return t.PodNode
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.node
}

// supportHere says whether this user can have pods on this host.
func supportHere(h facts.Host) facts.Support {
	switch {
	case !h.Root:
		return facts.Unsupported(record.Say("pod_needs_root"), record.Say("root_or_nodes"))
	case h.Groups == nil:
		return h.NoGroups
	}
	return facts.Supported()
}

// loadsImages returns an error unless tare can put its image into the runtime of this node; runtime is NAME://VERSION.
func loadsImages(node, runtime string) error {
	name, _, ok := strings.Cut(runtime, "://")
	if ok && name != "containerd" {
		return hint.New(fmt.Errorf("node %s has %s as its runtime, and tare puts its binary into an image of containerd alone", node, runtime),
			"control the pods from outside, with an image that has sh and the programs of the load: --nodes "+node+" --pod-image IMAGE")
	}
	return kube.NewContainerd().Can()
}

// reachable says whether tare reaches the cluster and has the rights of every run and those in
// more. elsewhere is the node of the pods; empty: this host.
func (t *Target) reachable(h facts.Host, more ...kube.Rights) (s facts.Support, elsewhere string) {
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := t.Connect()
	if err == nil { // a cluster that cannot be reached is reported before other reasons
		defer c.Close()
		n, remote, whereErr := c.Where(ctx)
		if err = whereErr; remote {
			if elsewhere = t.PodNode; n != nil {
				elsewhere = n.Name
			}
			more = append(more, kube.FarRights)
		} else if can := supportHere(h); can.Answer != facts.Yes {
			return can, ""
		} else if err == nil {
			err = loadsImages(n.Name, n.Status.NodeInfo.ContainerRuntimeVersion)
		}
		may := func() error { return c.May(ctx, more...) }
		if remote && c.Namespace != "" {
			may = func() error { return c.MayShared(ctx, c.Namespace, more...) }
		}
		if mayErr := may(); mayErr != nil {
			err = mayErr // it names all missing rights
		}
	}
	if err == nil {
		return facts.Supported(), elsewhere
	}
	s = facts.Refused(err)
	if s.Remedy.IsZero() {
		s.Remedy = record.InProse("kubectl get nodes asks the same")
	}
	return s, elsewhere
}

// where is the name of the pods' node, and whether it is another one than this host; empty and
// false if the cluster does not answer.
func (t *Target) where() (node string, remote bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := t.Connect()
	if err != nil {
		return "", false
	}
	defer c.Close()
	n, remote, err := c.Where(ctx)
	if err != nil {
		return "", false
	}
	return n.Name, remote
}

// sharedBy is what the arms of a run share.
func (t *Target) sharedBy(run string) *shared {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shares == nil {
		t.shares = map[string]*shared{}
	}
	if t.shares[run] == nil {
		t.shares[run] = &shared{}
	}
	return t.shares[run]
}
