package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/child"
)

// Containerd controls a containerd with its program ctr.
type Containerd struct {
	Path string // of ctr
	// Address is containerd's socket; empty: ContainerdAddress(). Namespace is containerd's
	// namespace of the images; empty: ctr's default.
	Address, Namespace string
	// Run runs a command to its end; nil: child.Run.
	Run func(*exec.Cmd) error
}

// ContainerdAddress is $CONTAINERD_ADDRESS, which ctr reads too, or containerd's default
// socket.
func ContainerdAddress() string {
	return cmp.Or(os.Getenv("CONTAINERD_ADDRESS"), "/run/containerd/containerd.sock")
}

// KubeNamespace is containerd's namespace of the kubelet's images.
const KubeNamespace = "k8s.io"

// Name is "containerd".
func (Containerd) Name() string { return "containerd" }

func (c Containerd) address() string {
	return strings.TrimPrefix(cmp.Or(c.Address, ContainerdAddress()), "unix://")
}

// Can returns an error if ctr or the socket is missing. It does not connect.
func (c Containerd) Can() error {
	if _, err := exec.LookPath(c.Path); err != nil {
		return hint.New(fmt.Errorf("ask containerd: %w", err), "install ctr, which comes with containerd (apt install containerd)")
	}
	_, err := os.Stat(c.address())
	if errors.Is(err, os.ErrNotExist) {
		return hint.New(fmt.Errorf("no containerd listens at %s: %w", c.address(), os.ErrNotExist), "start it, or set CONTAINERD_ADDRESS to its socket; a kubelet may have one of its own")
	}
	if err != nil {
		return hint.New(fmt.Errorf("find the socket of containerd: %w", err), "run as root")
	}
	return nil
}

// call runs ctr, with a shorter timeout than ctr's for a containerd that does not answer.
func (c Containerd) call(ctx context.Context, in io.Reader, args ...string) (string, error) {
	if err := c.Can(); err != nil {
		return "", err
	}
	all := []string{"--address", c.address(), "--connect-timeout", "3s"}
	if c.Namespace != "" {
		all = append(all, "--namespace", c.Namespace)
	}
	cmd := exec.CommandContext(ctx, c.Path, append(all, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	run := c.Run
	if run == nil {
		run = child.Run
	}
	if err := run(cmd); err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// LoadImage loads an archive into containerd.
func (c Containerd) LoadImage(ctx context.Context, file string) error {
	_, err := c.call(ctx, nil, "images", "import", "--local", file)
	if err != nil && strings.Contains(err.Error(), "not defined: -local") {
		_, err = c.call(ctx, nil, "images", "import", file) // containerd before 1.7
	}
	return err
}

// LoadFrom loads an archive into containerd while it is written.
func (c Containerd) LoadFrom(ctx context.Context, archive io.Reader) error {
	_, err := c.call(ctx, archive, "images", "import", "-")
	return err
}

// ImageID reads the digest of the configuration from the manifest: containerd itself names
// images by the digest of the manifest.
func (c Containerd) ImageID(ctx context.Context, tag string) (string, error) {
	f, err := c.listed(ctx, tag)
	if err != nil {
		return "", err
	}
	text, err := c.call(ctx, nil, "content", "get", f[2])
	if err != nil {
		return "", err
	}
	var manifest struct{ Config struct{ Digest string } }
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || manifest.Config.Digest == "" {
		return "", fmt.Errorf("the manifest of %s names no configuration: %q", tag, firstLine(text))
	}
	return manifest.Config.Digest, nil
}

// Platforms are those of an image, such as "linux/amd64"; ErrNoImage: there is no image.
func (c Containerd) Platforms(ctx context.Context, tag string) ([]string, error) {
	f, err := c.listed(ctx, tag)
	if err != nil {
		return nil, err
	}
	return platformsOf(f), nil
}

// listed is the line of an image in ctr's list: REF TYPE DIGEST SIZE PLATFORMS LABELS. The
// size is two words.
func (c Containerd) listed(ctx context.Context, tag string) ([]string, error) {
	list, err := c.call(ctx, nil, "images", "list", "name=="+tag)
	if err != nil {
		return nil, err
	}
	return lineOf(list, tag)
}

func lineOf(list, tag string) ([]string, error) {
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == tag {
			return f, nil
		}
	}
	return nil, ErrNoImage
}

// platformsOf finds the platforms in the line of an image.
func platformsOf(line []string) []string {
	for _, word := range line[2:] {
		if strings.HasPrefix(word, "linux/") || strings.HasPrefix(word, "windows/") {
			return strings.Split(word, ",")
		}
	}
	return nil
}

// RemoveImage removes a name of an image, and content that no other name has.
func (c Containerd) RemoveImage(ctx context.Context, tag string) error {
	_, err := c.call(ctx, nil, "images", "rm", "--sync", tag)
	if err != nil && strings.Contains(err.Error(), "not found") {
		return nil
	}
	return err
}
