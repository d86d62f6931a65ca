package pods

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/kubetest"
)

// TestClusterForeignImage checks that an image for another architecture is refused, although tare's binary
// would start in it.
func TestClusterForeignImage(t *testing.T) {
	warm(t)
	const name, other = "localhost/tare-foreign:1", "s390x"
	ctr := func(in []byte, args ...string) {
		t.Helper()
		cmd := exec.Command("ctr", append([]string{"--address", kube.NewContainerd().Address, "-n", "k8s.io"}, args...)...)
		cmd.Stdin = bytes.NewReader(in)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	ctr(emptyImage(t, name, other), "images", "import", "--platform", "linux/"+other, "-")
	t.Cleanup(func() { ctr(nil, "images", "rm", "--sync", name) })
	_, err := opened(t, with(t, BestEffort, "image="+name), runID("foreign"))
	if !errors.Is(err, facts.ErrUnsupported) || !strings.Contains(err.Error(), "linux/"+other) || !strings.Contains(hint.Of(err), "docker build --platform linux/") {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
}

// emptyImage is an archive with an empty image for an architecture.
func emptyImage(t *testing.T, name, arch string) []byte {
	t.Helper()
	archive := func(files ...string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for i := 0; i < len(files); i += 2 {
			h := &tar.Header{Name: files[i], Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[i+1]))}
			if strings.HasSuffix(files[i], "/") {
				h.Typeflag, h.Mode = tar.TypeDir, 0o755
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(files[i+1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	layer := archive(".tare/", "")
	config := fmt.Sprintf(`{"architecture":%q,"os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`, arch, sha256.Sum256(layer))
	manifest := fmt.Sprintf(`[{"Config":"config.json","RepoTags":[%q],"Layers":["layer.tar"]}]`, name)
	return archive("config.json", config, "manifest.json", manifest, "layer.tar", string(layer))
}

// TestClusterRights checks that all missing rights are named, with the user, before an arm is opened.
func TestClusterRights(t *testing.T) {
	admin := warm(t)
	const user = "tare-half"
	use(t, kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { u.Impersonate = user })})
	s := reached()
	if s.Answer != facts.No || !strings.Contains(said.English(s.Remedy), "--rbac") {
		t.Errorf("%+v", s)
	}
	for _, want := range []string{user, "create, delete, get namespaces", "list nodes", "pods", "list events"} {
		if !strings.Contains(said.English(s.Reason), want) {
			t.Errorf("%q does not say %q", s.Reason, want)
		}
	}
	admin.Grant(t, user)
	if s := reached(); s.Answer != facts.Yes {
		t.Errorf("with all rights: %+v", s)
	}
}
