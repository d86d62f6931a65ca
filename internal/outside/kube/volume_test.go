package kube

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

func persistent(phase corev1.PersistentVolumePhase, message string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: "pv"},
		Spec:   corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/x"}}},
		Status: corev1.PersistentVolumeStatus{Phase: phase, Message: message},
	}
}

// A class is missing if neither a class nor a volume has its name. For a user who may not list
// them there is no error.
func TestClassMissing(t *testing.T) {
	made := *persistent(corev1.VolumeAvailable, "")
	made.Spec.StorageClassName = "by-hand"
	list := metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "fast"}}}}
	for _, c := range []struct {
		class            string
		forbids, missing bool
	}{{"fast", false, false}, {"by-hand", false, false}, {"fats", false, true}, {"fats", true, false}} {
		cluster := connected(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case c.forbids:
				say(w, http.StatusForbidden, refusal(403, metav1.StatusReasonForbidden, `User "jane" cannot list`))
			case strings.HasSuffix(r.URL.Path, "storageclasses"):
				say(w, http.StatusOK, list)
			default:
				say(w, http.StatusOK, corev1.PersistentVolumeList{Items: []corev1.PersistentVolume{made}})
			}
		})
		err := cluster.ClassMissing(t.Context(), c.class)
		if (err != nil) != c.missing || c.missing && !strings.Contains(hint.Of(err), "its classes: fast") {
			t.Errorf("%+v: %v (%s)", c, err, hint.Of(err))
		}
	}
}

// AwaitNoVolumes waits for the run's volumes with the policy Delete, and for no others. The
// error about one that stays has the provisioner's words.
func TestAwaitNoVolumes(t *testing.T) {
	claimed := func(claim string, policy corev1.PersistentVolumeReclaimPolicy) corev1.PersistentVolume {
		v := *persistent(corev1.VolumeReleased, "")
		namespace, name, _ := strings.Cut(claim, "/")
		v.Spec.ClaimRef, v.Spec.PersistentVolumeReclaimPolicy = &corev1.ObjectReference{Namespace: namespace, Name: name}, policy
		return v
	}
	ours, beside := claimed("tare-r1/arm", "Delete"), claimed("team/tare-r1-arm", corev1.PersistentVolumeReclaimDelete)
	for _, c := range []struct {
		name   string
		listed []corev1.PersistentVolume
		answer func(asked int) (int, any)
		asked  int
		says   string
		in     string // namespace; empty: the run's own
	}{
		{"none is ours", []corev1.PersistentVolume{claimed("tare-r2/arm", "Delete"), claimed("tare-r1/arm", "Retain"), *persistent("Available", "")}, nil, 0, "", ""},
		{"others beside", []corev1.PersistentVolume{claimed("team/db", "Delete"), claimed("team/tare-r12-arm", "Delete")}, nil, 0, "", "team"},
		{"goes", []corev1.PersistentVolume{ours}, func(asked int) (int, any) {
			if asked < 3 {
				return http.StatusOK, &ours
			}
			return http.StatusNotFound, refusal(404, metav1.StatusReasonNotFound, "not found")
		}, 3, "", ""},
		{"ours beside", []corev1.PersistentVolume{beside}, func(int) (int, any) { return http.StatusOK, &beside }, 2, "is there 1s after", "team"},
		{"fails", []corev1.PersistentVolume{ours}, func(int) (int, any) {
			return http.StatusOK, persistent(corev1.VolumeFailed, "no deletable volume plugin matched")
		}, 1, "no deletable", ""},
		{"stays", []corev1.PersistentVolume{ours}, func(int) (int, any) { return http.StatusOK, &ours }, 2, "is there 1s after its claim (Released)\n  Warning VolumeFailedDelete: busy", ""},
		{"may not list", nil, nil, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			k := connected(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/events"):
					say(w, http.StatusOK, corev1.EventList{Items: []corev1.Event{{Type: "Warning", Reason: "VolumeFailedDelete", Message: "busy"}}})
				case !strings.HasSuffix(r.URL.Path, "/persistentvolumes"):
					asked++
					code, what := c.answer(asked)
					say(w, code, what)
				case c.listed == nil:
					say(w, http.StatusForbidden, refusal(403, metav1.StatusReasonForbidden, "no"))
				default:
					say(w, http.StatusOK, corev1.PersistentVolumeList{Items: c.listed})
				}
			})
			k.VolumeBound = time.Second
			err := k.AwaitNoVolumes(cmp.Or(c.in, "tare-r1"), "r1")
			if asked < c.asked || c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), "kubectl delete pv pv")) {
				t.Errorf("%v; %s; asked %d times", err, hint.Of(err), asked)
			}
			if stays := new(staysError); (c.says != "") != errors.As(err, &stays) {
				t.Errorf("%T", err)
			}
		})
	}
}

func TestVolumes(t *testing.T) {
	if got := KindOf(persistent("", "")); got != "local" {
		t.Errorf("kind %q", got)
	}
	csi := persistent("", "")
	csi.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com"}}
	if got := KindOf(csi); got != "ebs.csi.aws.com" {
		t.Errorf("kind %q", got)
	}
	s := spec()
	s.Volume = Volume{Class: "fast", Size: 2 << 30}
	claim, p := s.Claim(), s.Pod()
	if got := p.Spec.Volumes[1].PersistentVolumeClaim; got == nil || got.ClaimName != claim.Name || claim.Namespace != p.Namespace {
		t.Errorf("the pod has %+v, the claim is %+v", p.Spec.Volumes[1], claim.ObjectMeta)
	}
	if *claim.Spec.StorageClassName != "fast" || claim.Spec.Resources.Requests.Storage().String() != "2Gi" || len(s.Needs()) > 0 {
		t.Errorf("%+v; %v", claim.Spec, s.Needs())
	}
	if r := s.Rights(); len(r) != 2 {
		t.Errorf("rights %v", r)
	}
}
