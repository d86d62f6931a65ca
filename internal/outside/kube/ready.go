package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
)

// Trouble is why a pod does not run, in the cluster's words.
type Trouble struct {
	Reason, Message string
	Remedy          string
	// Final says that waiting does not help.
	Final bool
}

func (t *Trouble) Error() string {
	if t.Message == "" {
		return t.Reason
	}
	return t.Reason + ": " + strings.TrimSpace(t.Message)
}

// TroubleOf returns why a pod does not run; nil: nothing is wrong so far. Eviction and
// deletion come before the exit codes of containers, which they cause.
func TroubleOf(p *corev1.Pod) *Trouble {
	if p.Status.Reason != "" {
		return &Trouble{Reason: p.Status.Reason, Message: p.Status.Message, Remedy: remedyOf(p.Status.Reason, p.Status.Message), Final: true}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return &Trouble{Reason: c.Reason, Message: c.Message, Remedy: remedyOf(c.Reason, c.Message), Final: true}
		}
	}
	if p.DeletionTimestamp != nil {
		return &Trouble{Reason: "Deleted", Message: "somebody removes the pod", Final: true}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if t := waiting(s); t != nil {
			return t
		}
		if end := s.State.Terminated; end != nil && (end.ExitCode != 0 || s.Name == "load") {
			return ended(end)
		}
	}
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return &Trouble{Reason: string(p.Status.Phase), Message: p.Status.Message, Final: true}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return &Trouble{Reason: c.Reason, Message: c.Message, Remedy: remedyOf(c.Reason, c.Message), Final: noNode(c.Message) || cordoned(c.Message)}
		}
	}
	return nil
}

// noNode says that no node has the name in the pod's affinity: the scheduler's message gives
// that as the reason for all nodes.
func noNode(message string) bool {
	m := nodesRefused.FindStringSubmatch(message)
	return m != nil && m[1] == m[2]
}

var nodesRefused = regexp.MustCompile(`^0/(\d+) nodes are available: (\d+) node\(s\) didn't (?:match Pod's node affinity/selector|satisfy plugin\(s\) \[NodeAffinity\])`)

// cordoned says that the pod's node is cordoned.
func cordoned(message string) bool { return strings.Contains(message, "were unschedulable") }

// harmless are reasons of a waiting container that will start.
var harmless = []string{"", "ContainerCreating", "PodInitializing"}

func waiting(s corev1.ContainerStatus) *Trouble {
	w := s.State.Waiting
	if w == nil || slices.Contains(harmless, w.Reason) {
		return nil
	}
	return &Trouble{Reason: w.Reason, Message: w.Message, Remedy: remedyOf(w.Reason, w.Message)}
}

func ended(e *corev1.ContainerStateTerminated) *Trouble {
	t := &Trouble{Reason: cmp.Or(e.Reason, "Ended"), Message: fmt.Sprintf("exit code %d", e.ExitCode), Final: true}
	if e.Message != "" {
		t.Message += ": " + e.Message
	}
	t.Remedy = remedyOf(t.Reason, t.Message)
	return t
}

// remedyOf is the remedy for a reason and its message; "": none is known.
func remedyOf(reason, message string) string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) || reason == w })
	}
	switch {
	case noNode(message):
		return "the cluster has no node of that name: look at --nodes; kubectl get nodes lists them, or ask its administrator"
	case cordoned(message):
		return "the node is cordoned: kubectl uncordon NODE, or another node (--nodes)"
	case has("Insufficient cpu", "OutOfcpu"):
		return "ask for less, or let tare find the most that fits: cpu=max"
	case has("Insufficient memory", "OutOfmemory"):
		return "ask for less memory (memory=1Gi), or let tare find the most that fits: memory=max"
	case has("Too many pods", "OutOfpods"):
		return "the node holds as many pods as it may: measure fewer arms, or use another node"
	case has("untolerated taint"):
		return "the node is tainted: kubectl describe node shows with what; use a node that takes ordinary pods"
	case has("exec format error", "no match for platform"):
		return "the image is for another architecture than the node: name one that is for it"
	case has("ErrImageNeverPull"):
		return "tare's image went to another containerd than the node's: set CONTAINERD_ADDRESS to the socket that its kubelet uses"
	case has("ErrImagePull", "ImagePullBackOff", "InvalidImageName"):
		return "the node cannot get the image: look at its name, or put it there with tare image load"
	case has("mount.<type> helper program", "unknown filesystem type 'nfs'"):
		return "the node cannot mount it: install the client of that file system there (apt install nfs-common), in a kernel that has it"
	case strings.Contains(message, "storageclass") && strings.Contains(message, "not found"):
		return "kubectl get storageclass lists the classes that there are: volume=pvc:CLASS"
	case has("FailedMount", "FailedAttachVolume", "FailedMapVolume"):
		return "the node does not get the volume: kubectl get events says more; volume=emptydir does without"
	case has("persistent volumes to bind", "unbound immediate PersistentVolumeClaims", "no persistent volumes available", "ProvisioningFailed"):
		return "no PersistentVolume of that class is free for the node, or nobody makes one: kubectl get pv; volume-size=1Gi asks for less"
	case has("free ports for the requested pod ports"):
		return "the port is another pod's: network=pod does without"
	case has("Evicted", "TerminationByKubelet"):
		return "the node ran short of something: kubectl describe node; Guaranteed pods go last"
	case has("EvictionByEvictionAPI"):
		return "somebody empties the node (kubectl drain): run again when it is theirs no longer"
	case has("DeletionByTaintManager"):
		return "the node was given a taint, or was not ready for minutes: kubectl describe node"
	case has("PreemptionByScheduler", "Preempting"):
		return "a pod of higher priority took the place: use a node that has room for both"
	case has("DeadlineExceeded"):
		return "a pod of tare's lives six hours: give the run a shorter --budget, or more generations"
	case has("OOMKilled"):
		return "give the pod more memory: memory=4Gi"
	}
	return ""
}

const (
	// readyBound is how long a pod may take to run.
	readyBound = 2 * time.Minute
	// troubleBound is how long a trouble that is not final may last. Such a trouble often goes
	// away: the kubelet has not seen a new image yet, or the scheduler has not freed the CPUs of
	// a pod that ended.
	troubleBound = 10 * time.Second
)

// AwaitRunning waits until a pod runs and has an address. If it does not, the error has the
// cluster's reason, the pod's events and a remedy.
func (c *Cluster) AwaitRunning(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	var since time.Time // when a trouble was first seen; zero: none
	begun := time.Now()
	said := begun // when the user was told last
	for end := begun.Add(readyBound); ; {
		p, err := c.Pod(ctx, namespace, name)
		if err != nil {
			return nil, err
		}
		t := TroubleOf(p)
		if t == nil && !runs(p) && time.Since(begun) > stuckBound {
			t = c.stuckBy(ctx, p)
		}
		switch {
		case t == nil && runs(p):
			return p, nil
		case t == nil:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		if t != nil && (t.Final || time.Since(since) > troubleBound) {
			return nil, c.troubleError(ctx, p, t)
		}
		if time.Since(said) > slowPod {
			said = time.Now()
			c.Outages.say(c.waitsFor(ctx, p, time.Since(begun)))
		}
		if time.Now().After(end) {
			late := &Trouble{Reason: string(p.Status.Phase), Message: fmt.Sprintf("it does not run after %v", readyBound)}
			return nil, c.troubleError(ctx, p, late)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// slowPod is how long a pod may take before the user is told, and between two such lines.
var slowPod = 10 * time.Second

// waitsFor says that a pod does not run yet, with its newest event.
func (c *Cluster) waitsFor(ctx context.Context, p *corev1.Pod, after time.Duration) messages.Message {
	on := []any{"pod", p.Name, "node", cmp.Or(p.Spec.NodeName, "(none yet)"), "time", after.Round(time.Second)}
	events, err := c.Events(ctx, p.Namespace, p.Name)
	if lines := lastEvents(events); err == nil && len(lines) > 0 {
		return messages.Say("cluster.pod.event", append(on, "event", lines[len(lines)-1])...)
	}
	return messages.Say("cluster.pod", on...)
}

// stuckBy is the newest event that says why the container of a scheduled pod does not start;
// nil: there is no such event.
func (c *Cluster) stuckBy(ctx context.Context, p *corev1.Pod) *Trouble {
	events, err := c.Events(ctx, p.Namespace, p.Name)
	if err != nil {
		return nil
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return eventTime(b).Compare(eventTime(a)) })
	i := slices.IndexFunc(events, func(e corev1.Event) bool { return slices.Contains(stuck, e.Reason) })
	if i < 0 {
		return nil
	}
	e := events[i]
	return &Trouble{Reason: e.Reason, Message: e.Message, Remedy: remedyOf(e.Reason, e.Message), Final: true}
}

func runs(p *corev1.Pod) bool {
	return p.Status.PodIP != "" && len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Running != nil
}

// troubleError is the error about a pod: the trouble, the pod's last events and the remedy.
func (c *Cluster) troubleError(ctx context.Context, p *corev1.Pod, t *Trouble) error {
	text := fmt.Sprintf("pod %s does not run: %s", p.Name, t)
	events, err := c.Events(ctx, p.Namespace, p.Name)
	if err != nil {
		return hint.New(errors.Join(errors.New(text), err), t.Remedy)
	}
	remedy := t.Remedy
	for _, e := range events { // a failed claim is the cause of the pod's trouble: its remedy comes first
		if e.InvolvedObject.Kind == "PersistentVolumeClaim" && e.Type == corev1.EventTypeWarning {
			remedy = cmp.Or(remedyOf(e.Reason, e.Message), remedy)
		}
	}
	for _, line := range lastEvents(events) {
		text += "\n  " + line
	}
	return hint.New(errors.New(text), remedy)
}

// lastEvents formats the last events, each text once.
func lastEvents(events []corev1.Event) []string {
	const most = 6
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return eventTime(a).Compare(eventTime(b)) })
	var lines []string
	for _, e := range events {
		line := e.Type + " " + e.Reason + ": " + strings.Join(strings.Fields(e.Message), " ")
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-most):]
}

// eventTime is when an event happened last. Which of the fields is set depends on who wrote it.
func eventTime(e corev1.Event) time.Time {
	for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return e.CreationTimestamp.Time
}
