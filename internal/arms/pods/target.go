package pods

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/record"
)

// Target is the cluster that pods are of: how it is reached, what it said when it was
// asked, and what the arms of a run share in it.
type Target struct {
	kube.Access

	mu       sync.Mutex
	answers  map[string]facts.Support // by what is said of a pod
	node     string                   // of the pods, where that is not this host
	sessions map[string]*session      // by run
	silences kube.Silences
}

// Connect is a connection that is patient together with all others.
func (t *Target) Connect() (*kube.Cluster, error) {
	a := t.Access
	a.Silences = &t.silences
	return a.Connect()
}

// Told has it said with tell, from any goroutine, when the cluster does not answer, and when
// it does again.
func (t *Target) Told(tell func(string)) { t.silences.Told(tell) }

// Warnings are about the times in which the cluster did not answer.
func (t *Target) Warnings() (all []record.Warning) {
	for _, away := range t.silences.Past() {
		all = append(all, record.Warning{
			Text:   away.String(),
			Remedy: "what needed it waited, and the windows that were measured count; kubectl get --raw /readyz?verbose says how the API server is",
		})
	}
	return all
}

// askBound is how long the cluster may take to answer all that it is asked at a time.
const askBound = 10 * time.Second

// Ask asks the cluster whether tare can reach pods of these kinds, and may do what they
// need: on the node that this host is, or on another one, over a stream. What is planned
// afterwards asks nobody.
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
			answer = t.suited(p, h)
		}
		t.answers[p.word()] = answer
	}
}

// suited is the answer for a pod where there can be pods.
func (t *Target) suited(p Pod, h facts.Host) facts.Support {
	if err := p.suits(t.node != ""); err != nil {
		return facts.Unsupported(err.Error(), hint.Of(err))
	}
	if more := p.Rights(); len(more) > 0 {
		if answer, _ := t.reachable(h, more); answer.Answer != facts.Yes {
			return answer
		}
	}
	if err := t.refused(p); err != nil {
		return facts.Unsupported(err.Error(), hint.Of(err))
	}
	return facts.Supported()
}

// refused is why the cluster would not have such a pod, of what can be asked before one is
// made; nil: it would, or it does not say.
func (t *Target) refused(p Pod) error {
	class := p.Levels.volume.Class
	if class == "" && t.Namespace == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := t.Connect()
	if err != nil {
		return nil // it has answered before
	}
	defer c.Close()
	if class != "" {
		if err := c.ClassMissing(ctx, class); err != nil {
			return err
		}
	}
	if t.node == "" || c.Namespace == "" { // a namespace of the run's own is not there yet
		return nil
	}
	return c.Refuses(ctx, p.likely(t.node, c.Namespace))
}

// planned stands for the run of a pod that is not made.
const planned = "plan"

// likely is the pod as far as it is known before a run: of an amount that depends on what fits
// it asks for little.
func (p Pod) likely(node, namespace string) kube.PodSpec {
	l := p.complete()
	s := kube.PodSpec{Run: planned, Arm: p.Name(), Node: node, Namespace: namespace, Other: p.farImage(), Volume: p.Levels.volume.Volume}
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
		s.Volume.Size = cmp.Or(p.Levels.size.n, enough(0))
	}
	return s
}

// answer is what was said about a pod.
func (t *Target) answer(p Pod) facts.Support {
	if t == nil {
		return facts.Unsupported("no cluster is meant", "")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.answers[p.word()]; ok {
		return s
	}
	return facts.Unsupported("the cluster was not asked about it", "")
}

// Elsewhere is the node of the pods, where that is not this host; else empty. It is
// known when the cluster was asked.
func (t *Target) Elsewhere() string {
	if t.PodNode != "" {
		return t.PodNode
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.node
}

// here says whether this user can have pods on the node that this host is.
func here(h facts.Host) facts.Support {
	switch {
	case !h.Root:
		return facts.Unsupported("a pod's processes and files on its node are root's", "run as root, or lead the pods from outside: --nodes NAME")
	case h.Groups == nil:
		return facts.Unsupported(h.GroupsWhy, h.GroupsRemedy)
	}
	return facts.Supported()
}

// reachable says whether tare reaches the cluster and may do what every run needs
// there, and more, and the name of the pods' node; empty: it is this host.
func (t *Target) reachable(h facts.Host, more ...kube.Rights) (s facts.Support, elsewhere string) {
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := t.Connect()
	if err == nil { // that there is no cluster comes first
		defer c.Close()
		n, away, whereErr := c.Where(ctx)
		if err = whereErr; away {
			if elsewhere = t.PodNode; n != nil {
				elsewhere = n.Name
			}
			more = append(more, kube.FarRights)
		} else if can := here(h); can.Answer != facts.Yes {
			return can, ""
		} else if err == nil {
			err = kube.NewContainerd().Can()
		}
		may := func() error { return c.May(ctx, more...) }
		if away && c.Namespace != "" {
			may = func() error { return c.MayShared(ctx, c.Namespace, more...) }
		}
		if mayErr := may(); mayErr != nil {
			err = mayErr // all rights that are missing, not the first
		}
	}
	if err == nil {
		return facts.Supported(), elsewhere
	}
	s = facts.Unsupported(err.Error(), hint.Of(err))
	if s.Remedy == "" {
		s.Remedy = "kubectl get nodes asks the same"
	}
	return s, elsewhere
}

// where is the name of the pods' node, and whether tare is away from it, as far as the
// cluster says.
func (t *Target) where() (node string, away bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := t.Connect()
	if err != nil {
		return "", false
	}
	defer c.Close()
	n, away, err := c.Where(ctx)
	if err != nil {
		return "", false
	}
	return n.Name, away
}

// session is what the arms of a run share.
func (t *Target) session(run string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions == nil {
		t.sessions = map[string]*session{}
	}
	if t.sessions[run] == nil {
		t.sessions[run] = &session{}
	}
	return t.sessions[run]
}
