package kube

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

func spec() PodSpec {
	return PodSpec{
		Run: "r1", Arm: "best_effort", Node: "n1", Image: ImageOf("r1"), AgentArgs: []string{"keep"}, InstallArgs: []string{"install"},
	}
}

// restricted checks those rules of PodSecurity's strictest level that tare's pods could break.
func restricted(p *corev1.Pod) []string {
	var broken []string
	if p.Spec.HostNetwork || p.Spec.HostPID || p.Spec.HostIPC {
		broken = append(broken, "host namespaces")
	}
	for _, v := range p.Spec.Volumes {
		if v.HostPath != nil {
			broken = append(broken, "hostPath "+v.Name)
		}
		if v.NFS != nil {
			broken = append(broken, "nfs "+v.Name)
		}
	}
	if s := p.Spec.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser == 0 || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		broken = append(broken, "user or seccomp")
	}
	if a := p.Spec.SecurityContext.AppArmorProfile; a != nil && a.Type == corev1.AppArmorProfileTypeUnconfined {
		broken = append(broken, "appArmorProfile")
	}
	for _, c := range append(p.Spec.InitContainers, p.Spec.Containers...) {
		s := c.SecurityContext
		if *s.AllowPrivilegeEscalation || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" || len(s.Capabilities.Add) > 0 {
			broken = append(broken, "container "+c.Name)
		}
	}
	return broken
}

func TestRestrictedUnlessNamed(t *testing.T) {
	plain, image := spec(), spec()
	image.Other = "mariadb:11"
	image.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: to("mine")}
	for _, s := range []PodSpec{plain, image} {
		if got := restricted(s.Pod()); len(got) > 0 || len(s.Needs()) > 0 {
			t.Errorf("%+v: breaks %v, needs %v", s, got, s.Needs())
		}
	}
	for _, more := range []func(*PodSpec){
		func(s *PodSpec) { s.HostNetwork = true }, func(s *PodSpec) { s.Volume.Path = "/data" }, func(s *PodSpec) { s.Volume.Server = "nfs" },
		func(s *PodSpec) { s.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined} },
		func(s *PodSpec) { s.Programs = []string{"/usr"} },
	} {
		s := spec()
		more(&s)
		if got := restricted(s.Pod()); len(got) != 1 || len(s.Needs()) != 1 {
			t.Errorf("%+v: breaks %v, needs %v: want one of each", s, got, s.Needs())
		}
	}
	for _, c := range []struct {
		needs []string
		level string
	}{{nil, "restricted"}, {[]string{"x"}, "privileged"}} {
		if got := Namespace("r1", c.needs).Labels["pod-security.kubernetes.io/enforce"]; got != c.level {
			t.Errorf("needs %v: %s", c.needs, got)
		}
	}
}

func TestPod(t *testing.T) {
	s := spec()
	s.Requests, s.Limits = Amounts{1500, 2 << 30}, Amounts{1500, 2 << 30}
	p := s.Pod()
	if p.Name != "best-effort" || p.Namespace != "tare-r1" || p.Labels[LabelRun] != "r1" || p.Labels[LabelArm] != "best_effort" {
		t.Errorf("names and labels: %+v", p.ObjectMeta)
	}
	if p.Spec.ActiveDeadlineSeconds == nil || *p.Spec.ActiveDeadlineSeconds <= 0 || p.Spec.NodeName != "" {
		t.Errorf("deadline %v, node %q: the scheduler is to place it", p.Spec.ActiveDeadlineSeconds, p.Spec.NodeName)
	}
	r := p.Spec.Containers[0].Resources
	if r.Requests.Cpu().String() != "1500m" || r.Limits.Memory().String() != "2Gi" {
		t.Errorf("%+v", r)
	}
	if got := spec().Pod().Spec.Containers[0].Resources; len(got.Requests)+len(got.Limits) > 0 {
		t.Errorf("asks for nothing, and has %+v", got)
	}
	s.Other = "mariadb:11"
	p = s.Pod()
	if p.Spec.Containers[0].Command[0] != installed || p.Spec.InitContainers[0].Image != ImageOf("r1") {
		t.Errorf("another image: %+v", p.Spec)
	}
	if got := p.Spec.InitContainers[0].Resources; got.Limits.Cpu().String() != "1500m" {
		t.Errorf("an init container that asks for less makes the pod Burstable: %+v", got)
	}
}

func TestManifestReadsBack(t *testing.T) {
	text, err := Manifest("first\nsecond\n", Namespace("r1", nil), spec().Pod())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "# first\n# second\n") || strings.Contains(string(text), "status") {
		t.Errorf("%s", text)
	}
	_, second, _ := strings.Cut(string(text), "---\n")
	var p corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(second), &p); err != nil || p.Name != "best-effort" {
		t.Errorf("%v %+v", err, p.ObjectMeta)
	}
}

func TestRBAC(t *testing.T) {
	text, err := RBAC(For{User: "jane"})
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(text), "---\n")
	var role rbacv1.ClusterRole
	var binding rbacv1.ClusterRoleBinding
	if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(second), &binding); err != nil {
		t.Fatal(err)
	}
	for _, r := range role.Rules {
		if len(r.Resources) != 1 || len(r.Verbs) == 0 || r.Resources[0] == "*" || r.Verbs[0] == "*" || r.Resources[0] == "secrets" {
			t.Errorf("%+v", r)
		}
	}
	if binding.Subjects[0].Name != "jane" || binding.RoleRef.Name != role.Name {
		t.Errorf("%+v", binding)
	}
}

// The rights have exactly what the pods need.
func TestRights(t *testing.T) {
	plain, err := RBAC(For{User: "jane"}, spec().Rights())
	if err != nil || strings.Contains(string(plain), "services") {
		t.Errorf("%v: %s", err, plain)
	}
	s := spec()
	s.Service, s.Port = true, 3306
	text, err := RBAC(For{User: "jane"}, s.Rights(), s.Rights(), Rights{"pods": {"get", "watch"}})
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	first, _, _ := strings.Cut(string(text), "---\n")
	if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range role.Rules {
		got[r.Resources[0]] = strings.Join(r.Verbs, " ")
	}
	if got["services"] != "create get" || got["pods"] != "create delete get list watch" || got["nodes"] != "list" {
		t.Errorf("%v", got)
	}
}

func TestNetworks(t *testing.T) {
	s := spec()
	s.Service, s.Port = true, 3306
	v, p := s.ServiceOf(), s.Pod()
	for k, want := range v.Spec.Selector {
		if p.Labels[k] != want {
			t.Errorf("the Service looks for %s=%s, the pod has %q", k, want, p.Labels[k])
		}
	}
	if v.Name != "to-best-effort" || v.Spec.Ports[0].Port != 3306 || v.Namespace != p.Namespace || len(s.Needs()) > 0 {
		t.Errorf("%+v", v)
	}
	if ports := p.Spec.Containers[0].Ports; len(ports) > 0 {
		t.Errorf("the pod publishes %+v", ports)
	}
}

func TestImage(t *testing.T) {
	self := filepath.Join(t.TempDir(), "self")
	if err := os.WriteFile(self, []byte("binary"), 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := imageFor("r1", self, map[string]string{"bin": "usr/bin"}).Write(&b); err != nil {
		t.Fatal(err)
	}
	files := untar(t, b.Bytes())
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	var config struct {
		Rootfs struct {
			Diff []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal([]byte(files["manifest.json"]), &manifest); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(files[manifest[0].Config]), &config); err != nil {
		t.Fatal(err)
	}
	layer := files[manifest[0].Layers[0]]
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(layer))); config.Rootfs.Diff[0] != want {
		t.Errorf("digest %s, want %s", config.Rootfs.Diff[0], want)
	}
	root := untar(t, []byte(layer))
	if root[".tare/tare"] != "binary" || root["bin"] != "-> usr/bin" {
		t.Errorf("%v", root)
	}
}

func untar(t *testing.T, b []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if all[h.Name] = string(content); h.Linkname != "" {
			all[h.Name] = "-> " + h.Linkname
		}
	}
}
