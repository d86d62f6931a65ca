package kube

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tarelab/tare/internal/base/hint"
)

// The node helper is a privileged pod in the namespaces of a node's host, from which tare
// runs on the node.

// LabelHelper has the node of a helper as its value, on namespace and pod.
const LabelHelper = "tare/node-helper"

// Name of the helper's objects in its namespace, and paths in its pod.
const (
	HelperName  = "helper"
	HelperDir   = "/.tare/helper" // an emptyDir
	HelperToken = "/.tare/account/token"
	HelperCA    = "/.tare/account/ca.crt"
)

// HelperSpec describes the helper of one node.
type HelperSpec struct {
	Run, Node string
	// Image is an image with the helper's programs. If it is empty, the pod has the image Own,
	// which may be any image on the node, and runs the node's own programs, mounted from the host.
	Image, Own string
	Arch       string // GOARCH of the node
	// Pods says that the experiment has arms in pods. More lists the rights that these arms need
	// in addition to the rights of every run with pods.
	Pods bool
	More []Rights
	// Deadline ends the pod and the validity of its token, counted from the pod's start.
	Deadline time.Duration
	// NodeRun is the run id of the journal on the node.
	NodeRun string
}

// annotationNodeRun is an annotation of the helper's namespace. Its value is HelperSpec.NodeRun.
const annotationNodeRun = "tare/node-run"

// HelperCommand is the hidden command with which tare starts its own binary in the helper's pod.
// HelperEnter is the role of that command that enters the node's host. TaskAwait is the task of
// that role that waits until a run has restored the node.
const (
	HelperCommand = "__node"
	HelperEnter   = "enter"
	TaskAwait     = "await"
)

// awaitCommand is the command in the helper's pod that returns when the node is restored.
// nodeRun comes from an annotation that other users may be able to write: ok is false if it is
// not the id of a run.
func awaitCommand(nodeRun string) (command []string, ok bool) {
	if nodeRun == "" || strings.Trim(nodeRun, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return nil, false
	}
	return []string{HelperDir + "/tare", HelperCommand, HelperEnter, TaskAwait, nodeRun}, true
}

// helperPrograms are the programs that an image of the helper needs.
const helperPrograms = "sh, head, sleep, chmod and wc"

// startBound is how long the pod waits for the client to copy tare into it. After that time the
// client counts as lost, and the pod ends.
const startBound = 5 * time.Minute

// helperStarted is a file that the client makes before it copies tare.
const helperStarted = HelperDir + "/started"

// script is the shell script of the pod's first process. It only sleeps, to keep the pod running:
// for startBound, and then until the deadline if the client has made helperStarted.
func (s HelperSpec) script() string {
	return fmt.Sprintf("sleep %d; [ -e %s ] && exec sleep %d", int(startBound.Seconds()), helperStarted, int(s.Deadline.Seconds()))
}

// Needs lists what the helper needs beyond PodSecurity's "restricted".
func (HelperSpec) Needs() []string {
	return []string{"privileged, hostPID, hostNetwork, hostIPC, hostPath: the node helper (--node-helper), in which tare runs on the node"}
}

// name is the name of the helper's role and binding, which are in no namespace.
func (s HelperSpec) name() string { return NamespaceOf(s.Run) }

// Namespace is the namespace of the helper.
func (s HelperSpec) Namespace() *corev1.Namespace {
	n := Namespace(s.Run, s.Needs())
	n.Labels[LabelHelper] = s.Node
	n.Annotations[annotationNodeRun] = s.NodeRun
	return n
}

// Account is the service account of tare on the node.
func (s HelperSpec) Account() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   metav1.ObjectMeta{Name: HelperName, Namespace: NamespaceOf(s.Run), Labels: labels(s.Run, "")},
		AutomountServiceAccountToken: to(false),
	}
}

// Role holds the account's rights: the right to remove the helper, which tare on the node does
// when its client is lost, and the rights that the experiment's pods need. The role's owner is
// the helper's namespace, whose UID is owner: the cluster removes both together.
func (s HelperSpec) Role(owner types.UID) *rbacv1.ClusterRole {
	r := &rbacv1.ClusterRole{TypeMeta: rbacType("ClusterRole"), ObjectMeta: s.owned(owner)}
	if s.Pods {
		r.Rules = rules(withBasic(s.More))
	} else {
		r.Rules = []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{NamespaceOf(s.Run)}, Verbs: []string{"delete", "get"},
		}}
	}
	return r
}

// Binding gives the account its role.
func (s HelperSpec) Binding(owner types.UID) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta: rbacType("ClusterRoleBinding"), ObjectMeta: s.owned(owner),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: s.name()},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: HelperName, Namespace: NamespaceOf(s.Run)}},
	}
}

func (s HelperSpec) owned(owner types.UID) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: s.name(), Labels: labels(s.Run, ""), OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Namespace", Name: NamespaceOf(s.Run), UID: owner},
	}}
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

// HelperRights are the rights that a user of the node helper needs in addition to the rights of
// the helper's account. The user needs the account's rights too: Kubernetes lets nobody grant
// rights that they do not have.
var HelperRights = Rights{
	"serviceaccounts":                               {"create"},
	"pods/exec":                                     {"create", "get"}, // by SPDY and by WebSocket
	"rbac.authorization.k8s.io:clusterroles":        {"create", "delete"},
	"rbac.authorization.k8s.io:clusterrolebindings": {"create", "delete"},
}

// Pod is the helper's manifest: privileged, in the host's PID, network and IPC namespaces.
// tare enters the host's other namespaces itself.
func (s HelperSpec) Pod() *corev1.Pod {
	c := corev1.Container{
		Name: HelperName, Image: s.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         append(s.shell(), s.script()),
		SecurityContext: &corev1.SecurityContext{Privileged: to(true), RunAsUser: to(int64(0))},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "helper", MountPath: HelperDir}, {Name: "account", MountPath: "/.tare/account", ReadOnly: true},
		},
		Env: []corev1.EnvVar{{Name: "PATH", Value: programPath}},
	}
	for _, name := range loaderVariables {
		c.Env = append(c.Env, corev1.EnvVar{Name: name})
	}
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: HelperName, Namespace: NamespaceOf(s.Run), Labels: labels(s.Run, "")},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: HelperName,
			ActiveDeadlineSeconds: to(int64(s.Deadline.Seconds())), TerminationGracePeriodSeconds: to(int64(1)),
			AutomountServiceAccountToken: to(false), EnableServiceLinks: to(false),
			HostPID: true, HostNetwork: true, HostIPC: true, DNSPolicy: corev1.DNSDefault,
			Affinity:    PodSpec{Node: s.Node}.affinity(),
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Volumes:     []corev1.Volume{{Name: "helper", VolumeSource: emptyDir()}, {Name: "account", VolumeSource: s.account()}},
		},
	}
	p.Labels["app.kubernetes.io/component"], p.Labels[LabelHelper] = "node-helper", s.Node
	if s.Image == "" {
		c.Image, c.ImagePullPolicy = s.Own, corev1.PullNever
		for i, path := range programDirs(s.Arch) {
			name := fmt.Sprint("node-", i)
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: path, Type: to(corev1.HostPathDirectory)},
			}})
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: true})
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: emptyFile, VolumeSource: emptyFileVolume()})
		for _, path := range loaderFiles {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: emptyFile, SubPath: emptyFile, MountPath: path, ReadOnly: true})
		}
	}
	p.Spec.Containers = []corev1.Container{c}
	return p
}

// shell is the command that runs a script of the helper. In the image Own it drops the image's
// environment: if the node's sh is bash, a variable of the image could define a function that
// replaces a program.
func (s HelperSpec) shell() []string {
	sh := []string{"/bin/sh", "-c"}
	if s.Image == "" {
		return append([]string{"/usr/bin/env", "-i", "PATH=" + programPath}, sh...)
	}
	return sh
}

const programPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Variables and files with which the image Own could make the node's own programs load libraries
// of the image: through the dynamic loader, or through the conversion of character sets (gconv).
// The pod replaces them by empty ones.
var (
	loaderVariables = []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "LOCPATH", "GCONV_PATH"}
	loaderFiles     = []string{"/etc/ld.so.preload", "/etc/ld.so.cache"}
)

// emptyFile is the name of an empty file in the volume emptyFileVolume. Its content is an
// annotation of the pod that nobody sets.
const emptyFile = "empty"

func emptyFileVolume() corev1.VolumeSource {
	return corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
		Path: emptyFile, FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['tare/none']"},
	}}}}
}

// programDirs are the directories of a node in which sh and its libraries are.
func programDirs(arch string) []string {
	dirs := []string{"/usr", "/bin", "/lib"}
	if arch == "amd64" {
		dirs = append(dirs, "/lib64")
	}
	return dirs
}

// account is a volume with the token of the service account and the cluster's CA.
func (s HelperSpec) account() corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: to(int32(0o400)), Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: to(max(600, int64(s.Deadline.Seconds())))}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
	}}}
}

// CheckHelperImage returns an error if an image is not named by its digest, nor local: the
// registry could replace it, and it becomes a privileged pod.
func CheckHelperImage(name string) error {
	if strings.Contains(name, "@sha256:") || strings.HasPrefix(name, "localhost/") {
		return nil
	}
	return hint.New(fmt.Errorf("the node helper is a privileged pod, and the registry can replace %s", name),
		"name it by its digest, "+name+"@sha256:...; or one that is on the node, localhost/NAME (tare image load puts it there)")
}

// OwnImage is the smallest of a node's images that have a name. The pod executes nothing in it,
// see loaderVariables.
func OwnImage(n *corev1.Node) (string, error) {
	images := slices.Clone(n.Status.Images)
	slices.SortStableFunc(images, func(a, b corev1.ContainerImage) int { return cmp.Compare(a.SizeBytes, b.SizeBytes) })
	for _, i := range images {
		for _, name := range i.Names {
			if !strings.Contains(name, "@") && !strings.Contains(name, "<none>") && !strings.HasPrefix(name, "localhost/tare:") {
				return name, nil
			}
		}
	}
	return "", hint.New(fmt.Errorf("node %s has no image with a name, which its helper needs", n.Name),
		"name one that it can get, with "+helperPrograms+" in it: --helper-image busybox@sha256:...")
}

// FindNodes finds the nodes with these names; without names all nodes. It returns an error if
// one is missing, takes no pods now, or has another architecture than this binary.
func FindNodes(nodes []corev1.Node, names []string) ([]corev1.Node, error) {
	var have []string
	for _, n := range nodes {
		have = append(have, n.Name)
	}
	if len(names) == 0 {
		names = have
	}
	if len(names) == 0 {
		return nil, errors.New("the cluster has no nodes")
	}
	var found []corev1.Node
	for i, name := range names {
		at := slices.Index(have, name)
		switch {
		case at < 0:
			return nil, hint.New(fmt.Errorf("the cluster has no node %q", name), "its nodes: "+strings.Join(have, ", "))
		case slices.Contains(names[:i], name):
			return nil, hint.New(fmt.Errorf("node %s is named twice", name), "name each node once")
		}
		n := nodes[at]
		if err := usable(&n); err != nil {
			return nil, err
		}
		if arch := n.Status.NodeInfo.Architecture; arch != "" && arch != runtime.GOARCH {
			return nil, hint.New(fmt.Errorf("node %s is %s, this tare is for %s", n.Name, arch, runtime.GOARCH), "run the tare that is built for it: GOARCH="+arch+" make build")
		}
		found = append(found, n)
	}
	return found, nil
}
