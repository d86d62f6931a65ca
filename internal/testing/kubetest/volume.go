package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LocalClass makes a StorageClass with local volumes of 4Gi, which are directories of this
// host, until the end of the test. dir is the directory above them. Each volume can be claimed
// once.
func (a *Admin) LocalClass(t *testing.T, volumes int) (class, dir string) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	class, dir = fmt.Sprintf("tare-test-%d-%d", os.Getpid(), volumes), t.TempDir()
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	a.make(t, "/apis/storage.k8s.io/v1/storageclasses", class, storagev1.StorageClass{
		TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: metav1.ObjectMeta{Name: class},
		Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait,
	})
	for i := range volumes {
		name := fmt.Sprint(class, "-", i)
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		a.make(t, "/api/v1/persistentvolumes", name, local(name, class, path, host))
	}
	return class, dir
}

func local(name, class, path, host string) corev1.PersistentVolume {
	here := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{host}}
	return corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("4Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:              class,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{here}},
			}}},
		},
	}
}

// make makes an object and removes it at the end of the test.
func (a *Admin) make(t *testing.T, path, name string, object any) {
	t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if code, said := a.Do(t, http.MethodPost, path, body); code != http.StatusCreated {
		t.Fatalf("make %s: %d %s", name, code, said)
	}
	t.Cleanup(func() { a.Do(t, http.MethodDelete, path+"/"+name, nil) })
}
