package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
)

func TestPlatforms(t *testing.T) {
	const list = `REF                      TYPE                                                 DIGEST        SIZE      PLATFORMS               LABELS
localhost/tare-foreign:1 application/vnd.docker.distribution.manifest.v2+json sha256:0e5f70 1.3 KiB   linux/s390x             io.cri-containerd.image=managed
docker.io/library/db:11  application/vnd.oci.image.index.v1+json              sha256:7a1f22 121.4 MiB linux/amd64,linux/arm64 -
`
	for image, want := range map[string]string{"localhost/tare-foreign:1": "[linux/s390x]", "docker.io/library/db:11": "[linux/amd64 linux/arm64]"} {
		line, err := lineOf(list, image)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(platformsOf(line)); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
	if _, err := lineOf(list, "none"); !errors.Is(err, ErrNoImage) {
		t.Errorf("%v, want that there is no such image", err)
	}
}

// The error names what of containerd is missing: program, socket or right.
func TestContainerdIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for name, c := range map[string]struct {
		Containerd
		says, helps string
	}{
		"no program":      {Containerd{Path: "tare-has-no-such-ctr", Address: file}, "tare-has-no-such-ctr", "install ctr"},
		"no such path":    {Containerd{Path: none, Address: file}, none, "install ctr"},
		"no socket":       {Containerd{Path: file, Address: "unix://" + none}, "no containerd listens at " + none, "CONTAINERD_ADDRESS"},
		"not a directory": {Containerd{Path: file, Address: file + "/s"}, "not a directory", "root"},
	} {
		err := c.Can()
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.helps) {
			t.Errorf("%s: %v (%s)", name, err, hint.Of(err))
		}
		if _, asked := c.ImageID(t.Context(), "x"); asked == nil || asked.Error() != err.Error() {
			t.Errorf("%s: asked: %v", name, asked)
		}
	}
}

// ctr gets containerd's address and a short timeout.
func TestContainerdIsAsked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	var asked []string
	c := Containerd{Path: file, Address: "unix://" + file, Namespace: KubeNamespace, Run: func(cmd *exec.Cmd) error {
		asked = cmd.Args[1:]
		return nil
	}}
	if _, err := c.ImageID(t.Context(), "x"); !errors.Is(err, ErrNoImage) {
		t.Errorf("%v", err)
	}
	want := []string{"--address", file, "--connect-timeout", "3s", "--namespace", KubeNamespace, "images", "list", "name==x"}
	if !slices.Equal(asked, want) {
		t.Errorf("%q, want %q", asked, want)
	}
}
