package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// classOf is the QoS class that Kubernetes gives to a pod: of its containers' requests and limits of CPU and
// memory alone.
func classOf(p *corev1.Pod) corev1.PodQOSClass {
	any, guaranteed := false, true
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			any = any || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && (request.IsZero() || request.Cmp(limit) == 0)
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// changed says what the admission of a cluster changed in a pod that matters to a measurement: amounts,
// containers, class, placement and runtime; empty: nothing. It fills in tolerations, the service account and
// the like in every pod.
func changed(asked, got *corev1.Pod) string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	containers := func(p *corev1.Pod) map[string]corev1.Container {
		out := map[string]corev1.Container{}
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			out[c.Name] = c
		}
		return out
	}
	was, is := containers(asked), containers(got)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		c, ours := was[name]
		if !ours {
			add("the container %s is added", name)
			continue
		}
		if d := changedAmounts(c, is[name]); d != "" {
			add("container %s gets %s", name, d)
		}
		if c.Image != is[name].Image {
			add("container %s gets the image %s", name, is[name].Image)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, kept := is[name]; !kept {
			add("the container %s is taken out", name)
		}
	}
	if a, b := asked.Spec.RuntimeClassName, got.Spec.RuntimeClassName; b != nil && (a == nil || *a != *b) {
		add("the runtime class is %s", *b)
	}
	if asked.Spec.HostNetwork != got.Spec.HostNetwork {
		add("hostNetwork is %v", got.Spec.HostNetwork)
	}
	for _, key := range slices.Sorted(maps.Keys(got.Spec.NodeSelector)) {
		if asked.Spec.NodeSelector[key] != got.Spec.NodeSelector[key] {
			add("its node needs the label %s=%s", key, got.Spec.NodeSelector[key])
		}
	}
	if a, b := classOf(asked), classOf(got); a != b {
		add("so that it is %s and not %s", b, a)
	}
	return strings.Join(all, ", ")
}

// changedAmounts names the requests and limits that differ.
func changedAmounts(asked, got corev1.Container) string {
	var all []string
	for _, x := range []struct {
		word    string
		was, is corev1.ResourceList
	}{{"request", asked.Resources.Requests, got.Resources.Requests}, {"limit", asked.Resources.Limits, got.Resources.Limits}} {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			a, had := x.was[name]
			b, has := x.is[name]
			switch {
			case !has && had:
				all = append(all, fmt.Sprintf("no %s %s", name, x.word))
			case has && a.Cmp(b) != 0 && !(x.word == "request" && !had && sameAsLimit(asked, name, b.String())):
				all = append(all, fmt.Sprintf("a %s %s of %s", name, x.word, b.String()))
			}
		}
	}
	return strings.Join(all, " and ")
}

// sameAsLimit says whether a request is what Kubernetes sets where a container has a limit alone.
func sameAsLimit(c corev1.Container, name corev1.ResourceName, request string) bool {
	limit, ok := c.Resources.Limits[name]
	return ok && limit.String() == request
}
