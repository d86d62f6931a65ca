package kube

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Labels of all objects that tare makes, beside Kubernetes' recommended labels.
const (
	LabelRun = "tare/run"
	LabelArm = "tare/arm"

	labelComponent = "app.kubernetes.io/component"
)

func labels(run, arm string) map[string]string {
	l := map[string]string{
		"app.kubernetes.io/name": "tare", "app.kubernetes.io/instance": run, "app.kubernetes.io/managed-by": "tare",
		LabelRun: run,
	}
	if arm != "" {
		l[labelComponent] = "arm"
		l[LabelArm] = arm
	}
	return l
}

// NamespaceOf is the name of the namespace of a run.
func NamespaceOf(run string) string { return "tare-" + run }

// Namespace is the namespace of a run. needs lists what its pods need beyond PodSecurity's
// level "restricted"; with any the level is "privileged".
func Namespace(run string, needs []string) *corev1.Namespace {
	n := &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: NamespaceOf(run), Labels: labels(run, ""), Annotations: map[string]string{}},
	}
	level := "restricted"
	if len(needs) > 0 {
		level = "privileged"
		n.Annotations["tare/needs"] = strings.Join(needs, "; ")
	}
	for _, mode := range []string{"enforce", "warn", "audit"} {
		n.Labels["pod-security.kubernetes.io/"+mode] = level
	}
	return n
}

// Paths in tare's pods.
const (
	socketDir = "/.tare/desk"
	// Socket is the socket of the agent, the pod's first process.
	Socket = socketDir + "/ask"
	// VolumeDir is the volume with the data.
	VolumeDir = "/.tare/volume"
	// Exe is tare's binary in tare's own image; installed is its copy in another image.
	Exe          = "/.tare/tare"
	installedDir = "/.tare/bin"
	installed    = installedDir + "/tare"
	// KeptData is a directory of pods with the binary's copy, on no volume under test.
	KeptData = installedDir + "/data"
)

// UserID is the uid of a pod, which no account has.
const UserID = 65532

// deadline is activeDeadlineSeconds of a pod. Its first process ends soon after tare; the
// deadline is for pods in which both fail.
const deadline = 6 * 60 * 60

// PodSpec describes an arm's pod.
type PodSpec struct {
	Run, Arm, Node string
	// Namespace is one that others use too; empty: the run's own.
	Namespace string
	// Component is a label with the pod's purpose; empty: "arm".
	Component string
	// Image is tare's own image; empty: the binary is copied into the running pod
	// (CopySelf). Other is another image, with the load's programs; empty: the load uses
	// Programs of the node, or none.
	Image, Other string
	// Programs are directories and files of the node that are mounted read-only.
	Programs []string
	// Requests and Limits; 0: none.
	Requests, Limits Amounts
	HostNetwork      bool
	// Port is a server's; 0: there is no server. Service says that a Service leads to it.
	Port    int
	Service bool
	// Volume holds the data; its zero value is an emptyDir.
	Volume Volume
	// AppArmor is the profile; nil: the node's default.
	AppArmor *corev1.AppArmorProfile
	// AgentArgs are the arguments of tare's binary as first process, InstallArgs those
	// with which the init container copies it.
	AgentArgs, InstallArgs []string
	// Notes are annotations.
	Notes map[string]string
}

// Exe is the path of tare's binary in the pod.
func (s PodSpec) Exe() string {
	if s.Other != "" {
		return installed
	}
	return Exe
}

// Needs lists what the pod needs beyond PodSecurity's "restricted", and why.
func (s PodSpec) Needs() []string {
	var all []string
	if len(s.Programs) > 0 {
		all = append(all, "hostPath, read-only: the node's own programs (image=NAME does without)")
	}
	if s.Volume.Path != "" {
		all = append(all, "hostPath: the volume under test")
	}
	if s.Volume.Server != "" {
		all = append(all, "nfs: the volume under test")
	}
	if s.HostNetwork {
		all = append(all, "hostNetwork: network=host")
	}
	if p := s.AppArmor; p != nil && p.Type == corev1.AppArmorProfileTypeUnconfined {
		all = append(all, "appArmorProfile Unconfined: apparmor=unconfined")
	}
	return all
}

// PodName is the name of an arm's pod, with characters that Kubernetes allows.
func PodName(arm string) string { return strings.ReplaceAll(arm, "_", "-") }

// PodNameIn is PodName in a namespace; in one that others use too the name has the run.
func PodNameIn(namespace, run, arm string) string {
	if namespace == "" {
		return PodName(arm)
	}
	return PodName(NamespaceOf(run) + "-" + arm)
}

// Name is the pod's name, Space the namespace of the pod, its Service and its claim.
func (s PodSpec) Name() string  { return PodNameIn(s.Namespace, s.Run, s.Arm) }
func (s PodSpec) Space() string { return cmp.Or(s.Namespace, NamespaceOf(s.Run)) }

func to[T any](v T) *T { return &v }

// Pod is the pod's manifest.
func (s PodSpec) Pod() *corev1.Pod {
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Name(), Namespace: s.Space(),
			Labels: labels(s.Run, s.Arm), Annotations: s.Notes,
		},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:         to(int64(deadline)),
			TerminationGracePeriodSeconds: to(int64(1)),
			AutomountServiceAccountToken:  to(false),
			EnableServiceLinks:            to(false),
			HostNetwork:                   s.HostNetwork,
			Affinity:                      s.affinity(),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: to(true), RunAsUser: to(int64(UserID)), RunAsGroup: to(int64(UserID)),
				SeccompProfile:  &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				AppArmorProfile: s.AppArmor,
			},
			Volumes: []corev1.Volume{{Name: "desk", VolumeSource: emptyDir()}, {Name: "volume", VolumeSource: s.source()}},
		},
	}
	if s.Component != "" {
		p.Labels[labelComponent] = s.Component
	}
	load := s.container("load", s.Image, append([]string{s.Exe()}, s.AgentArgs...))
	load.VolumeMounts = []corev1.VolumeMount{{Name: "desk", MountPath: socketDir}, {Name: "volume", MountPath: VolumeDir}}
	if s.Image == "" {
		s.await(p, &load)
		s.own(p)
	} else if s.Other != "" {
		install := s.container("tare", s.Image, append([]string{Exe}, s.InstallArgs...))
		bin := corev1.VolumeMount{Name: "tare", MountPath: installedDir}
		install.VolumeMounts = append(install.VolumeMounts, bin)
		load.VolumeMounts = append(load.VolumeMounts, bin)
		load.Image, load.ImagePullPolicy = s.Other, corev1.PullIfNotPresent
		p.Spec.InitContainers = []corev1.Container{install}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "tare", VolumeSource: emptyDir()})
	}
	for i, path := range s.Programs {
		name := fmt.Sprint("node-", i)
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: hostPath(path)})
		load.VolumeMounts = append(load.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: true})
	}
	p.Spec.Containers = []corev1.Container{load}
	return p
}

// InstallTo is the path to which the init container copies the binary.
func InstallTo() string { return installed }

// affinity binds the pod to a node through the scheduler, which nodeName would bypass.
func (s PodSpec) affinity() *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{s.Node}},
		}}},
	}}}
}

func emptyDir() corev1.VolumeSource {
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
}

func hostPath(path string) corev1.VolumeSource {
	return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}
}

func (s PodSpec) container(name, image string, command []string) corev1.Container {
	return corev1.Container{
		Name: name, Image: image, ImagePullPolicy: corev1.PullNever, Command: command, WorkingDir: "/",
		Resources: corev1.ResourceRequirements{Requests: list(s.Requests), Limits: list(s.Limits)},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: to(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

func list(a Amounts) corev1.ResourceList {
	l := corev1.ResourceList{}
	if a.CPU > 0 {
		l[corev1.ResourceCPU] = *resource.NewMilliQuantity(a.CPU, resource.DecimalSI)
	}
	if a.Memory > 0 {
		l[corev1.ResourceMemory] = *resource.NewQuantity(a.Memory, resource.BinarySI)
	}
	return l
}

// Manifest writes objects as a YAML file for kubectl, with a comment at the top.
func Manifest(comment string, objects ...any) ([]byte, error) {
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		b.WriteString("# " + line)
	}
	for i, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("write a manifest: %w", err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		for line := range strings.Lines(string(text)) {
			if s := strings.TrimSpace(line); s != "status: {}" && s != "creationTimestamp: null" {
				b.WriteString(line)
			}
		}
	}
	return b.Bytes(), nil
}
