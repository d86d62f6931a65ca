package cli

import "strings"

// Words of tare presets, doctor and help kubernetes.

// question is a group of presets that answer it; their names end in one of the words.
type question struct{ title, names string }

// questions are in the order of tare presets. The last one takes every name.
var questions = []question{
	{"Container: how much is lost to it, and in which layer?", "quick layers docker-run"},
	{"Neighbour: how much is lost beside a batch job, and which setting protects?", "colocation"},
	{"CPU limit: what does it cost below the limit?", "limit"},
	{"Pod: how much is lost in Kubernetes, by QoS class and by network?", "kubernetes pod-network"},
	{"Volume: how fast is each?", "volumes storage disk"},
	{"Change: is a new version or option file of a database slower?", "ab"},
	{"Others", ""},
}

// questionOf is the index of a preset's question.
func questionOf(preset string) int {
	for i, q := range questions {
		for _, end := range strings.Fields(q.names) {
			if strings.HasSuffix(preset, end) {
				return i
			}
		}
	}
	return len(questions) - 1
}

// readiness is a purpose of tare with the arm that it needs.
type readiness struct{ purpose, arm string }

// purposes are in the order of tare doctor's first line.
var purposes = []readiness{
	{"containers", "container"},
	{"neighbours", "cgroup"},
	{"pods", "besteffort"},
	{"Docker", "docker"},
	{"Podman", "podman"},
	{"gVisor", "gvisor"},
}

const kubernetesHelp = `Arms in pods: besteffort, burstable, guaranteed. On a node of the cluster, as root, no
flag is needed: tare run mysql-kubernetes. From elsewhere, name the node.

Examples:

  tare run mysql-kubernetes                         on the node itself
  tare run mysql-kubernetes --nodes a               pods on node a, controlled from here
  tare run --nodes a,b --node-helper                the whole run on each of two nodes
  tare run pod-volumes --volume pvc:CLASS           a database on each StorageClass
  tare plan mysql-kubernetes --rbac > rights.yaml   for an administrator, who applies it

Flags of tare run and tare plan:
`
