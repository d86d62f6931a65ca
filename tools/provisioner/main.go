// Command provisioner provides PersistentVolumes for a StorageClass in the test cluster, with the library
// of real provisioners. A volume is a directory of this host, which is a node of the cluster. It is
// removed with its claim.
//
// Two parameters of the StorageClass make it fail on purpose. With "refuse" it provides no volume. With
// "keep" it does not remove a volume until the volume's annotation "keep" is removed. The value of each
// is the text of the error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// directories provides volumes as directories below dir.
type directories struct{ dir string }

var _ controller.Provisioner = directories{}

// keep is the name of a parameter of a StorageClass and of the annotation of its volumes.
const keep = "keep"

// Provision makes a volume on the node that the scheduler has chosen.
func (d directories) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if why := o.StorageClass.Parameters["refuse"]; why != "" {
		return nil, controller.ProvisioningFinished, errors.New(why)
	}
	path := filepath.Join(d.dir, o.PVName)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	onNode := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{o.SelectedNodeName}}
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName, Annotations: map[string]string{}},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			Capacity:                      o.PVC.Spec.Resources.Requests,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{onNode}},
			}}},
		},
	}
	if why := o.StorageClass.Parameters[keep]; why != "" {
		v.Annotations[keep] = why
	}
	return v, controller.ProvisioningFinished, nil
}

// Delete removes the directory of a volume.
func (d directories) Delete(_ context.Context, v *corev1.PersistentVolume) error {
	if why := v.Annotations[keep]; why != "" {
		return errors.New(why)
	}
	return os.RemoveAll(filepath.Join(d.dir, v.Name))
}

func main() {
	name := flag.String("name", "", "the provisioner's name in the StorageClass")
	dir := flag.String("dir", "", "the directory in which volumes are made")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := provide(ctx, *name, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "provisioner:", err)
		os.Exit(1)
	}
}

func provide(ctx context.Context, name, dir string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	c := controller.NewProvisionController(ctx, client, name, directories{dir},
		controller.LeaderElection(false), controller.FailedProvisionThreshold(0), controller.FailedDeleteThreshold(0), // retries forever
		controller.RateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Second)))
	c.Run(ctx)
	return nil
}
