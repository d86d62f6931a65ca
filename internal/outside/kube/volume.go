package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

// Volume holds the data of a pod: a directory of the node, an NFS export, or the volume of a
// claim. With no field set it is an emptyDir.
type Volume struct {
	Path        string // on the node
	Server, NFS string // name or address of the NFS server, and the exported path
	// Class is the StorageClass of a claim, Size its request in bytes.
	Class string
	Size  int64
}

// source is the volume in the form of the pod's manifest.
func (s PodSpec) source() corev1.VolumeSource {
	switch v := s.Volume; {
	case v.Path != "":
		return hostPath(v.Path)
	case v.Server != "":
		return corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: v.Server, Path: v.NFS}}
	case v.Class != "":
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.Name()}}
	}
	return emptyDir()
}

// Claim is the PersistentVolumeClaim of the pod. It has the pod's name, so that Events finds the events of
// both.
func (s PodSpec) Claim() *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: s.Name(), Namespace: s.Space(), Labels: labels(s.Run, s.Arm)},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: to(s.Volume.Class),
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: *resource.NewQuantity(s.Volume.Size, resource.BinarySI),
			}},
		},
	}
}

// CreateClaim makes a claim.
func (c *Cluster) CreateClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	err := c.create(ctx, func() error {
		return c.client.Post().Namespace(claim.Namespace).Resource("persistentvolumeclaims").Body(claim).Do(ctx).Error()
	})
	return c.explain("make PersistentVolumeClaim "+claim.Name, err)
}

// Classes lists the StorageClasses of the cluster.
func (c *Cluster) Classes(ctx context.Context) (names []string, err error) {
	var classes metav1.PartialObjectMetadataList
	text, err := c.client.Get().AbsPath("/apis/storage.k8s.io/v1/storageclasses").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err == nil {
		err = json.Unmarshal(text, &classes)
	}
	for _, s := range classes.Items {
		names = append(names, s.Name)
	}
	return names, c.explain("list the StorageClasses", err)
}

// ClassMissing returns an error if the cluster has neither a StorageClass nor a PersistentVolume of a
// class: a claim of that class would never be bound. It returns nil if there is one, or if this user
// may not list them.
func (c *Cluster) ClassMissing(ctx context.Context, class string) error {
	names, err := c.Classes(ctx)
	if err != nil {
		return nil
	}
	var volumes corev1.PersistentVolumeList
	if slices.Contains(names, class) || c.client.Get().Resource("persistentvolumes").Do(ctx).Into(&volumes) != nil {
		return nil
	}
	if slices.ContainsFunc(volumes.Items, func(v corev1.PersistentVolume) bool { return v.Spec.StorageClassName == class }) {
		return nil
	}
	if len(names) == 0 {
		return hint.New(fmt.Errorf("the cluster has no StorageClass %q, nor any other", class), "an administrator makes one; volume=emptydir does without")
	}
	return hint.New(fmt.Errorf("the cluster has no StorageClass %q", class), "its classes: "+strings.Join(names, ", ")+"; name one: volume=pvc:CLASS")
}

// Bound reads the PersistentVolume to which a claim is bound.
func (c *Cluster) Bound(ctx context.Context, claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, error) {
	var now corev1.PersistentVolumeClaim
	err := c.patiently(ctx, func() error {
		return c.client.Get().Namespace(claim.Namespace).Resource("persistentvolumeclaims").Name(claim.Name).Do(ctx).Into(&now)
	})
	if err != nil {
		return nil, c.explain("look at PersistentVolumeClaim "+claim.Name, err)
	}
	return c.volume(ctx, now.Spec.VolumeName)
}

// volume reads a PersistentVolume; ErrNone: there is none.
func (c *Cluster) volume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	var v corev1.PersistentVolume
	err := c.patiently(ctx, func() error {
		return c.client.Get().Resource("persistentvolumes").Name(name).Do(ctx).Into(&v)
	})
	if apierrors.IsNotFound(err) {
		return nil, ErrNone
	}
	return &v, c.explain("look at PersistentVolume "+name, err)
}

const usualVolumeBound = 2 * time.Minute

// AwaitNoVolumes waits until the provisioner has removed the volumes of a run's deleted claims. It waits
// only for volumes with the reclaim policy Delete, and not at all if the user may not list volumes.
func (c *Cluster) AwaitNoVolumes(namespace, run string) error {
	ctx, end := context.Background(), time.Now().Add(c.VolumeBound)
	var l corev1.PersistentVolumeList
	err := c.patiently(ctx, func() error { return c.client.Get().Resource("persistentvolumes").Do(ctx).Into(&l) })
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return c.explain("list PersistentVolumes", err)
	}
	var errs []error
	for _, v := range l.Items {
		of := v.Spec.ClaimRef
		ofRun := of != nil && of.Namespace == namespace && (namespace == NamespaceOf(run) || strings.HasPrefix(of.Name, NamespaceOf(run)+"-"))
		if ofRun && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			errs = append(errs, c.awaitNoVolume(ctx, v.Name, end))
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) awaitNoVolume(ctx context.Context, name string, end time.Time) error {
	for {
		v, err := c.volume(ctx, name)
		switch {
		case errors.Is(err, ErrNone):
			return nil
		case err != nil:
			return err
		case v.Status.Phase == corev1.VolumeFailed:
			return c.volumeStays(v, "is not removed: "+v.Status.Message)
		}
		if time.Now().After(end) {
			return c.volumeStays(v, fmt.Sprintf("is there %v after its claim (%s)", c.VolumeBound, v.Status.Phase))
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// staysError means that a volume was not removed in time, or that its provisioner failed to remove it.
// To try again at once does not help.
type staysError struct{ text string }

func (e *staysError) Error() string { return e.text }

// volumeStays is the error about a volume that its provisioner does not remove, with the last
// events.
func (c *Cluster) volumeStays(v *corev1.PersistentVolume, how string) error {
	ctx, cancel := context.WithTimeout(context.Background(), hinderedBound)
	defer cancel()
	text := fmt.Sprintf("PersistentVolume %s of StorageClass %s %s", v.Name, v.Spec.StorageClassName, how)
	events, _ := c.Events(ctx, metav1.NamespaceDefault, v.Name) // events of objects in no namespace
	for _, line := range lastEvents(events) {
		text += "\n  " + line
	}
	return hint.New(&staysError{text}, "its class says that it goes with its claim, which is gone: look at whoever provides "+v.Spec.StorageClassName+
		" (kubectl describe pv "+v.Name+"); or kubectl delete pv "+v.Name+", and remove what it was on")
}

// KindOf is the kind of a volume's storage: "local", or a CSI driver's name.
func KindOf(v *corev1.PersistentVolume) string {
	if v.Spec.CSI != nil {
		return v.Spec.CSI.Driver
	}
	sources := reflect.ValueOf(v.Spec.PersistentVolumeSource) // one pointer for each kind; one is set
	for i := range sources.NumField() {
		if !sources.Field(i).IsNil() {
			name, _, _ := strings.Cut(sources.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return "unknown"
}

// SourceOf is the location of a volume's storage: SERVER:PATH of NFS, or the volume handle of
// a CSI driver; empty for other kinds.
func SourceOf(v *corev1.PersistentVolume) string {
	switch {
	case v.Spec.NFS != nil:
		return v.Spec.NFS.Server + ":" + v.Spec.NFS.Path
	case v.Spec.CSI != nil:
		return v.Spec.CSI.VolumeHandle
	}
	return ""
}

// stuckBound is how long a pod may wait for a volume or a network before that is an error.
const stuckBound = 20 * time.Second

// stuck are the reasons of events that say why a container does not start.
var stuck = []string{"FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "ProvisioningFailed"}
