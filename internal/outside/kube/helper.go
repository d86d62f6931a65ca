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

// The node helper: a privileged pod in the namespaces of a node's host, from
// which tare itself runs on that node.

// LabelHelper names the node of a helper, on its namespace and its pod.
const LabelHelper = "tare/node-helper"

// Names of the helper's objects in its namespace, and where its pod has things.
const (
	HelperName  = "helper"
	HelperDir   = "/.tare/helper" // on the node's disk, gone with the pod
	HelperToken = "/.tare/account/token"
	HelperCA    = "/.tare/account/ca.crt"
)

// HelperSpec is what the helper of one node is made of.
type HelperSpec struct {
	Run, Node string
	// Image holds the programs of the helper; empty: Own is one that the
	// node has, whatever is in it, and the commands are the node's own.
	Image, Own string
	Arch       string // of the node, as Go calls it
	// Pods says that the experiment has arms in pods, and More what rights they need
	// beyond what every run with pods needs.
	Pods bool
	More []Rights
	// Deadline ends the pod whatever happens, and the token with it.
	Deadline time.Duration
	// NodeRun is the run of tare's journal on the node.
	NodeRun string
}

// annotationNodeRun, of the helper's namespace, holds the run of the journal on the node.
const annotationNodeRun = "tare/node-run"

// HelperCommand is the hidden command as which tare starts itself in the helper's pod,
// HelperEnter its role that enters the node's host, TaskAwait what that does there: it
// waits until a run has restored the node.
const (
	HelperCommand = "__node"
	HelperEnter   = "enter"
	TaskAwait     = "await"
)

// awaitCommand is the command in the helper's pod that returns when the node is restored.
// Others may be able to write the annotation: it must be the id of a run.
func awaitCommand(nodeRun string) (command []string, ok bool) {
	if nodeRun == "" || strings.Trim(nodeRun, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return nil, false
	}
	return []string{HelperDir + "/tare", HelperCommand, HelperEnter, TaskAwait, nodeRun}, true
}

// helperPrograms are what an image of the helper has to have.
const helperPrograms = "sh, head, sleep, chmod and wc"

// startBound is how long the client may take until it has started tare: a helper
// whose client is lost before ends by itself.
const startBound = 5 * time.Minute

// HelperStarted is the file that says that the client has come.
const HelperStarted = HelperDir + "/started"

// script is the pod's first process: it only holds the pod.
func (s HelperSpec) script() string {
	return fmt.Sprintf("sleep %d; [ -e %s ] && exec sleep %d", int(startBound.Seconds()), HelperStarted, int(s.Deadline.Seconds()))
}

// Needs are what the helper needs beyond PodSecurity's "restricted".
func (HelperSpec) Needs() []string {
	return []string{"privileged, hostPID, hostNetwork, hostIPC, hostPath: the node helper (--node-helper), in which tare runs on the node"}
}

// name is that of the helper's objects that are in no namespace.
func (s HelperSpec) name() string { return NamespaceOf(s.Run) }

// Namespace is the helper's.
func (s HelperSpec) Namespace() *corev1.Namespace {
	n := Namespace(s.Run, s.Needs())
	n.Labels[LabelHelper] = s.Node
	n.Annotations[annotationNodeRun] = s.NodeRun
	return n
}

// Account is what tare is on the node to the cluster.
func (s HelperSpec) Account() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   metav1.ObjectMeta{Name: HelperName, Namespace: NamespaceOf(s.Run), Labels: labels(s.Run, "")},
		AutomountServiceAccountToken: to(false),
	}
}

// Role is what the account may: remove the helper when the client is lost, and where
// the experiment has arms in pods, what tare's user needs for them. The cluster removes
// it with the namespace, by whose id it is owned.
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

// HelperRights are what the node helper needs of its user beyond what is done on
// the node: nobody can give the helper's account rights without having them.
var HelperRights = Rights{
	"serviceaccounts":                               {"create"},
	"pods/exec":                                     {"create", "get"}, // by SPDY and by WebSocket
	"rbac.authorization.k8s.io:clusterroles":        {"create", "delete"},
	"rbac.authorization.k8s.io:clusterrolebindings": {"create", "delete"},
}

// Pod is the helper: privileged, in the namespaces of the node's host but for
// its mounts, which tare enters itself.
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
	for _, name := range loaderWords {
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
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: emptyFile, VolumeSource: nothing()})
		for _, path := range loaderFiles {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: emptyFile, SubPath: emptyFile, MountPath: path, ReadOnly: true})
		}
	}
	p.Spec.Containers = []corev1.Container{c}
	return p
}

// shell is what a script of the helper's is given to. An image that nobody named has only
// its root file system used, and nothing of its environment: where sh is bash, a
// variable is a function that it executes in the place of a program.
func (s HelperSpec) shell() []string {
	sh := []string{"/bin/sh", "-c"}
	if s.Image == "" {
		return append([]string{"/usr/bin/env", "-i", "PATH=" + programPath}, sh...)
	}
	return sh
}

const programPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// What an image could have the loader of the node's own programs load, which begin in
// it: words of the environment, also for conversions between character sets, and files.
var (
	loaderWords = []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "LOCPATH", "GCONV_PATH"}
	loaderFiles = []string{"/etc/ld.so.preload", "/etc/ld.so.cache"}
)

// emptyFile is a file with nothing in it, nothing its volume: an annotation that
// nobody sets.
const emptyFile = "empty"

func nothing() corev1.VolumeSource {
	return corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
		Path: emptyFile, FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['tare/none']"},
	}}}}
}

// programDirs are where a node has sh and what that needs.
func programDirs(arch string) []string {
	dirs := []string{"/usr", "/bin", "/lib"}
	if arch == "amd64" {
		dirs = append(dirs, "/lib64")
	}
	return dirs
}

// account is the token of the service account, and whom to trust.
func (s HelperSpec) account() corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: to(int32(0o400)), Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: to(max(600, int64(s.Deadline.Seconds())))}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
	}}}
}

// CheckHelperImage refuses an image that a registry could answer with another one
// today than yesterday: it becomes a privileged pod.
func CheckHelperImage(name string) error {
	if strings.Contains(name, "@sha256:") || strings.HasPrefix(name, "localhost/") {
		return nil
	}
	return hint.New(fmt.Errorf("the node helper is a privileged pod, and %s is whatever its registry says today", name),
		"name it by its digest, "+name+"@sha256:...; or one that is on the node, localhost/NAME (tare image load puts it there)")
}

// OwnImage is an image that a node has: the smallest with a name. Nothing of it but its
// file system's root is used, see loaderWords.
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
	return "", hint.New(fmt.Errorf("node %s has no image yet that its helper could begin with", n.Name),
		"name one that it can get, with "+helperPrograms+" in it: --helper-image busybox@sha256:...")
}

// FindNodes are the nodes with these names, all usable and for this binary; all
// of the cluster's where names is empty.
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
