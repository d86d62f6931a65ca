package kube

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// serviceName is the name of a pod's Service, which must begin with a letter.
func serviceName(pod string) string { return "to-" + pod }

// ServiceOf is the Service for the port of the pod's server: a virtual address with the same
// port.
func (s PodSpec) ServiceOf() *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: serviceName(s.Name()), Namespace: s.Space(), Labels: labels(s.Run, s.Arm)},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: map[string]string{LabelRun: s.Run, LabelArm: s.Arm},
			Ports:    []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: int32(s.Port), TargetPort: intstr.FromInt(s.Port)}},
		},
	}
}

// CreateService makes a Service and returns the address that the cluster gave it.
func (c *Cluster) CreateService(ctx context.Context, s *corev1.Service) (netip.Addr, error) {
	what := "make Service " + s.Name
	var made corev1.Service
	err := c.create(ctx, func() error {
		return c.client.Post().Namespace(s.Namespace).Resource("services").Body(s).Do(ctx).Into(&made)
	})
	if err == nil && made.Spec.ClusterIP == "" { // the answer was lost
		err = c.patiently(ctx, func() error {
			return c.client.Get().Namespace(s.Namespace).Resource("services").Name(s.Name).Do(ctx).Into(&made)
		})
	}
	if err != nil {
		return netip.Addr{}, c.explain(what, err)
	}
	addr, err := netip.ParseAddr(made.Spec.ClusterIP)
	if err != nil {
		return addr, fmt.Errorf("%s: the cluster gave it no address: %w", what, err)
	}
	return addr, nil
}
