package kube

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// copyBound is how long a pod waits for tare's binary. It then ends: its client is lost.
const copyBound = 5 * time.Minute

// await makes the pod's first process a shell that waits for tare's binary and then executes
// it. The image needs a shell.
func (s PodSpec) await(p *corev1.Pod, load *corev1.Container) {
	tries := 10 // a second
	load.Image, load.ImagePullPolicy = s.Other, corev1.PullIfNotPresent
	load.Command = []string{"/bin/sh", "-c", fmt.Sprintf(
		"n=0; until [ -x %[1]s ]; do n=$((n+1)); [ $n -gt %[2]d ] && exit 1; sleep 0.1 || sleep 1; done; exec %[1]s %[3]s",
		installed, tries*int(copyBound.Seconds()), strings.Join(s.AgentArgs, " "))}
	load.VolumeMounts = append(load.VolumeMounts, corev1.VolumeMount{Name: "tare", MountPath: installedDir})
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "tare", VolumeSource: emptyDir()})
}

// own makes the pod's user the owner of a claimed volume, because tare is not on the node
// to do it. The owner of an NFS export is set on its server.
func (s PodSpec) own(p *corev1.Pod) {
	if s.Volume.Class != "" {
		p.Spec.SecurityContext.FSGroup = to(int64(UserID))
		p.Spec.SecurityContext.FSGroupChangePolicy = to(corev1.FSGroupChangeOnRootMismatch)
	}
}

// FarRights are the rights for pods when tare is not on their node, beyond those of every
// run with pods.
var FarRights = Rights{"pods/exec": {"create", "get"}} // by SPDY and by WebSocket
