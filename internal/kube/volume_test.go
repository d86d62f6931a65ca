package kube

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/hint"
)

func persistent(phase corev1.PersistentVolumePhase, message string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: "pv"},
		Spec:   corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/x"}}},
		Status: corev1.PersistentVolumeStatus{Phase: phase, Message: message},
	}
}

// The end of a volume is waited for, and one that does not go is said.
func TestAwaitNoVolume(t *testing.T) {
	asked := 0
	c := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			say(w, http.StatusOK, persistent(corev1.VolumeReleased, ""))
			return
		}
		say(w, http.StatusNotFound, refusal(404, metav1.StatusReasonNotFound, "not found"))
	})
	if err := c.AwaitNoVolume(t.Context(), "pv"); err != nil || asked != 3 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	c = connected(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusOK, persistent(corev1.VolumeFailed, "no deletable volume plugin matched"))
	})
	if err := c.AwaitNoVolume(t.Context(), "pv"); err == nil || !strings.Contains(err.Error(), "no deletable") || !strings.Contains(hint.Of(err), "kubectl delete pv") {
		t.Errorf("%v; %s", err, hint.Of(err))
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
