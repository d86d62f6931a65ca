package kubetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// Provisioner is a running tools/provisioner. It makes volumes of its classes, which are
// directories of this host, and removes them with their claims.
type Provisioner struct {
	Dir  string // of the volumes
	name string
}

// Provisioner runs tools/provisioner until the end of the test.
func (a *Admin) Provisioner(t *testing.T) Provisioner {
	t.Helper()
	bin := os.Getenv("TARETEST_PROVISIONER")
	if bin == "" {
		testneed.Feature(t, "provisioner", errors.New("the environment of tools/cluster names it"))
	}
	p := Provisioner{Dir: t.TempDir(), name: fmt.Sprintf("tare-test.example/%d", os.Getpid())}
	cmd := exec.Command(bin, "-name", p.name, "-dir", p.Dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the provisioner: %s", &said)
		}
	})
	return p
}

// Class makes a StorageClass of the provisioner until the end of the test. parameters tell the
// provisioner how to fail.
func (p Provisioner) Class(t *testing.T, a *Admin, name string, parameters map[string]string) string {
	t.Helper()
	name = fmt.Sprintf("tare-test-%s-%d", name, os.Getpid())
	wait, goes := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete
	a.make(t, "/apis/storage.k8s.io/v1/storageclasses", name, storagev1.StorageClass{
		TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Provisioner: p.name, Parameters: parameters, VolumeBindingMode: &wait, ReclaimPolicy: &goes,
	})
	return name
}

// Volumes returns the names of the volumes of a class.
func (a *Admin) Volumes(t *testing.T, class string) (names []string) {
	t.Helper()
	var l corev1.PersistentVolumeList
	a.Get(t, "/api/v1/persistentvolumes", &l)
	for _, v := range l.Items {
		if v.Spec.StorageClassName == class {
			names = append(names, v.Name)
		}
	}
	return names
}

// LetGo removes the annotation with which the provisioner keeps a volume.
func (a *Admin) LetGo(t *testing.T, volume string) {
	t.Helper()
	var v corev1.PersistentVolume
	path := "/api/v1/persistentvolumes/" + volume
	for {
		if code := a.Get(t, path, &v); code != http.StatusOK {
			t.Fatalf("%s: %d", path, code)
		}
		delete(v.Annotations, "keep")
		body, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		switch code, said := a.Do(t, http.MethodPut, path, body); code {
		case http.StatusOK:
			return
		case http.StatusConflict: // changed meanwhile
		default:
			t.Fatalf("%s: %d %s", path, code, said)
		}
	}
}
