package kube

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
)

func withStatus(s corev1.ContainerState) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "load", State: s}}}}
}

func waits(reason, message string) *corev1.Pod {
	return withStatus(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
}

// Messages of Kubernetes 1.34.
func TestTrouble(t *testing.T) {
	unscheduled := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
		Message: "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
	}}}}
	evicted := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."}}
	// The kubelet ends the containers of a pod that it evicts.
	evicted.Status.ContainerStatuses = withStatus(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 2}}).Status.ContainerStatuses
	disrupted := func(reason, message string) *corev1.Pod {
		p := withStatus(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 2}})
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message}}
		return p
	}
	killed := withStatus(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}})
	foreign := withStatus(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "StartError", ExitCode: 128, Message: "exec /.tare/tare: exec format error"}})
	for _, c := range []struct {
		pod         *corev1.Pod
		says, helps string
		final       bool
	}{
		{unscheduled, "Insufficient cpu", "cpu=max", false},
		{evicted, "low on resource", "Guaranteed", true},
		{disrupted("EvictionByEvictionAPI", "Eviction API: evicting"), "EvictionByEvictionAPI: Eviction API", "drain", true},
		{disrupted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"), "NoExecute taint", "taint", true},
		{disrupted("PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"), "preempting", "room", true},
		{killed, "OOMKilled: exit code 137", "memory=", true},
		{foreign, "exec format error", "architecture", true},
		{waits("ErrImageNeverPull", "Container image is not present with pull policy of Never"), "not present", "CONTAINERD_ADDRESS", false},
		{waits("ErrImagePull", `failed to pull and unpack image "db.example/foreign:1": no match for platform in manifest: not found`), "no match for platform", "architecture", false},
		{waits("FailedMount", "mount: /x: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program."), "helper program", "nfs-common", false},
		{waits("ProvisioningFailed", `storageclass.storage.k8s.io "none" not found`), "not found", "kubectl get storageclass", false},
		{waits("Unschedulable", "1 node(s) didn't find available persistent volumes to bind"), "to bind", "volume-size", false},
		{waits("ImagePullBackOff", "Back-off pulling image"), "Back-off", "name", false},
	} {
		got := TroubleOf(c.pod)
		if got == nil || !strings.Contains(got.Error(), c.says) || !strings.Contains(got.Remedy, c.helps) || got.Final != c.final {
			t.Errorf("want %q, %q, %v: %+v", c.says, c.helps, c.final, got)
		}
	}
	running := withStatus(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	for _, p := range []*corev1.Pod{{}, waits("ContainerCreating", ""), running} {
		if got := TroubleOf(p); got != nil {
			t.Errorf("nothing is wrong, and it says %v", got)
		}
	}
}

func TestLastEvents(t *testing.T) {
	at := func(second int, reason string) corev1.Event {
		return corev1.Event{Type: "Warning", Reason: reason, Message: "a\nb", LastTimestamp: metav1.NewTime(time.Unix(int64(second), 0))}
	}
	got := strings.Join(lastEvents([]corev1.Event{at(3, "third"), at(1, "first"), at(2, "second"), at(4, "third")}), "|")
	if want := "Warning first: a b|Warning second: a b|Warning third: a b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestChooseNode(t *testing.T) {
	called := func(name, boot string) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.NodeInfo.BootID = boot
		return n
	}
	nodes := []corev1.Node{called("a", "1"), called("b", "2"), called("c", "2")}
	for boot, want := range map[string]string{"1": "a", "2": "c"} {
		if n, err := choose(nodes, boot, "c"); err != nil || n.Name != want {
			t.Errorf("boot %s: %v %v, want %s", boot, n, err, want)
		}
	}
	if _, err := choose(nodes, "3", "a"); !errors.Is(err, errElsewhere) || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
	sick := called("a", "1")
	sick.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: "no network"}}
	if err := usable(&sick); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("%v", err)
	}
	sick.Status.Conditions = nil
	sick.Spec.Unschedulable = true
	if err := usable(&sick); err == nil || !strings.Contains(hint.Of(err), "uncordon") {
		t.Errorf("%v", err)
	}
}

// While a pod does not start, the user is told what it waits for.
func TestSlowPodIsSaid(t *testing.T) {
	was := slowPod
	slowPod = time.Millisecond
	t.Cleanup(func() { slowPod = was })
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			say(w, http.StatusOK, corev1.EventList{Items: []corev1.Event{{Type: "Normal", Reason: "Scheduled", Message: "assigned to vm-2"}}})
			return
		}
		p := corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "helper"}}
		p.Spec.NodeName = "vm-2"
		say(w, http.StatusOK, p)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said string
	c.Outages.Told(func(m messages.Message) { said = messages.In(messages.English).Say(m); cancel() })
	if _, err := c.AwaitRunning(ctx, "n", "helper"); err == nil || !strings.Contains(said, "pod helper on node vm-2 does not run after") || !strings.Contains(said, "Scheduled: assigned to vm-2") {
		t.Errorf("%q, %v", said, err)
	}
}
