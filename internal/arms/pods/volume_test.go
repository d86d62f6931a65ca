package pods

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/kube"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		levels string
		spec   environment.Spec
		want   kube.Volume
		wrong  bool
	}{
		{"image=none", environment.Spec{}, kube.Volume{}, false},
		{"volume=emptydir", environment.Spec{}, kube.Volume{}, false},
		{"volume=hostpath", environment.Spec{}, kube.Volume{Path: "dir"}, false},
		{"image=none", environment.Spec{Bind: true}, kube.Volume{Path: "dir"}, false},
		{"image=none", environment.Spec{Volume: "/mnt"}, kube.Volume{Path: "/mnt"}, false},
		{"volume=hostpath", environment.Spec{Volume: "/mnt"}, kube.Volume{Path: "/mnt"}, false},
		{"volume=pvc:fast", environment.Spec{}, kube.Volume{Class: "fast"}, false},
		{"volume=pvc:fast,volume-size=3Gi", environment.Spec{}, kube.Volume{Class: "fast", Size: 3 << 30}, false},
		{"volume=nfs:10.0.0.1:/a/b", environment.Spec{}, kube.Volume{Server: "10.0.0.1", NFS: "/a/b"}, false},
		{"volume=nfs:[fd00::2]:/a", environment.Spec{}, kube.Volume{Server: "[fd00::2]", NFS: "/a"}, false},
		{"volume=emptydir", environment.Spec{Bind: true}, kube.Volume{}, true},
		{"volume=pvc:fast", environment.Spec{Volume: "/mnt"}, kube.Volume{}, true},
	} {
		var s kube.PodSpec
		err := with(t, BestEffort, c.levels).Levels.setVolume(&s, c.spec, "dir")
		if c.wrong {
			if err == nil || !strings.Contains(hint.Of(err), "leave one") {
				t.Errorf("%s with %+v: %v; %s", c.levels, c.spec, err, hint.Of(err))
			}
			continue
		}
		if err != nil || s.Volume != c.want {
			t.Errorf("%s with %+v: %+v %v, want %+v", c.levels, c.spec, s.Volume, err, c.want)
		}
	}
}

// given is a volume that a cluster has bound to a claim.
func given(source corev1.PersistentVolumeSource, options ...string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: "pv-1"},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: source, MountOptions: options, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("4Gi")},
		},
	}
}

// TestOnServers tests pods with an NFS export, with a claim bound to one, and with a claim of a CSI driver:
// the volume in their manifests, and the bound volume in their settings.
func TestOnServers(t *testing.T) {
	for _, c := range []struct {
		levels, source string // in the pod
		volume         *corev1.PersistentVolume
		want           string
	}{
		{"volume=nfs:filer:/export", "nfs filer:/export", nil, "pod.volume=nfs:filer:/export"},
		{
			"volume=pvc:slow", "claim arm",
			given(corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "filer", Path: "/export/1"}}, "vers=4.2", "nconnect=4"),
			"pod.volume=pvc:slow pod.volume.persistent=pv-1, nfs pod.volume.source=filer:/export/1 pod.volume.asked=vers=4.2,nconnect=4 pod.volume.capacity=4Gi pod.volume.reclaim=Delete",
		},
		{
			"volume=pvc:csi", "claim arm",
			given(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "nfs.csi.k8s.io", VolumeHandle: "filer#export#pv-1##"}}),
			"pod.volume=pvc:csi pod.volume.persistent=pv-1, nfs.csi.k8s.io pod.volume.source=filer#export#pv-1## pod.volume.capacity=4Gi pod.volume.reclaim=Delete",
		},
	} {
		t.Run(c.levels, func(t *testing.T) {
			s := kube.PodSpec{Run: "r1", Arm: "arm", Node: "n1", Image: kube.ImageOf("r1")}
			if err := with(t, BestEffort, c.levels).Levels.setVolume(&s, environment.Spec{}, ""); err != nil {
				t.Fatal(err)
			}
			if got := readAgain(t, s); got != c.source {
				t.Errorf("the pod's volume is %q, want %q", got, c.source)
			}
			var got []string
			for _, x := range volumeSettings(s.Volume, bound(t, s, c.volume)) {
				got = append(got, x.Name+"="+x.Got)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
		})
	}
}

// readAgain describes the volume of a pod in its manifest.
func readAgain(t *testing.T, s kube.PodSpec) string {
	t.Helper()
	text, err := kube.Manifest("", s.Pod())
	if err != nil {
		t.Fatal(err)
	}
	var p corev1.Pod
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatal(err)
	}
	for _, v := range p.Spec.Volumes {
		switch {
		case v.NFS != nil:
			return "nfs " + v.NFS.Server + ":" + v.NFS.Path
		case v.PersistentVolumeClaim != nil:
			return "claim " + v.PersistentVolumeClaim.ClaimName
		}
	}
	return ""
}

// bound asks a played API server that has bound the pod's claim, if it has one.
func bound(t *testing.T, s kube.PodSpec, v *corev1.PersistentVolume) *corev1.PersistentVolume {
	t.Helper()
	if v == nil {
		return nil
	}
	claim := s.Claim()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/persistentvolumeclaims/"+claim.Name) {
			now := *claim
			now.Spec.VolumeName = v.Name
			_ = json.NewEncoder(w).Encode(now)
		} else if strings.HasSuffix(r.URL.Path, "/persistentvolumes/"+v.Name) {
			_ = json.NewEncoder(w).Encode(v)
		} else {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: k, cluster: {server: "` + server.URL + `"}}],
contexts: [{name: c, context: {cluster: k, user: jane}}], users: [{name: jane, user: {}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := kube.Access{Kubeconfig: file}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	got, err := cluster.Bound(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEnough(t *testing.T) {
	for data, want := range map[int64]int64{0: 1, 1 << 20: 1, 512 << 20: 2, 3 << 30: 7} {
		if got := claimSize(data); got != want<<30 {
			t.Errorf("for %d bytes %d, want %d GiB", data, got, want)
		}
	}
}
