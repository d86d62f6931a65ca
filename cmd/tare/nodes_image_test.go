package main

import (
	"encoding/json"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/kubetest"
)

// helperImage makes an image of programs of this host and puts it into the node's containerd until
// the end of the test.
func helperImage(t *testing.T, name string, programs ...string) {
	t.Helper()
	file := imagebuild.Build(t, name, "/proc/self/exe", programs...).File
	o := &outside{t: t, home: t.TempDir()}
	if out, err := o.tool("image", "load", file, "--into", "containerd").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		c := kube.NewContainerd()
		if out, err := exec.Command("ctr", "--address", c.Address, "-n", "k8s.io", "images", "rm", "--sync", name).CombinedOutput(); err != nil {
			t.Errorf("remove %s: %v: %s", name, err, out)
		}
	})
}

// The helper runs from an image that was made and loaded without a registry, and has none of the
// node's programs.
func TestClusterHelperImage(t *testing.T) {
	kubetest.Need(t)
	const name = "localhost/tare-helper:1"
	helperImage(t, name, "sh", "head")
	o := fromOutside(t, "--helper-image", name)
	o.measuring()
	code, b := o.admin.Do(t, "GET", "/api/v1/pods?labelSelector="+url.QueryEscape(kube.LabelHelper+"="+o.node), nil)
	var pods corev1.PodList
	if err := json.Unmarshal(b, &pods); err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d pods of helpers: %d %v", len(pods.Items), code, err)
	}
	p := pods.Items[0]
	if s := p.Status.ContainerStatuses[0]; s.Image != name || s.ImageID == "" || s.State.Running == nil {
		t.Errorf("it runs from %s (%s): %+v", s.Image, s.ImageID, s.State)
	}
	for _, v := range p.Spec.Volumes {
		if v.HostPath != nil {
			t.Errorf("it has %s of the node", v.HostPath.Path)
		}
	}
	o.cmd.Process.Signal(syscall.SIGINT)
	if h := o.end(130).Manifest.Host.Helper; h == nil || h.Image != name || !strings.HasPrefix(h.Kubelet, "v") || !strings.Contains(h.Runtime, "://") {
		t.Errorf("labelled as %+v", h)
	}
}

// An image without a shell ends with the cluster's own reason, and with what the image needs.
func TestClusterHelperImageWithoutShell(t *testing.T) {
	admin := kubetest.Need(t)
	const name = "localhost/tare-helper-none:1"
	helperImage(t, name, "/bin/true")
	o := &outside{t: t, admin: admin, home: t.TempDir(), node: admin.Here(t), states: []string{hereState}}
	out, err := o.tool("run", "-o", filepath.Join(o.home, "r"), "--budget", "10s", "--node-helper", "--nodes", o.node, "--helper-image", name).CombinedOutput()
	t.Logf("%s", out)
	for _, want := range []string{"pod helper does not run", "/bin/sh", "hint: the helper's image needs sh, head, sleep"} {
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: does not say %q", err, want)
		}
	}
	o.clean()
}
