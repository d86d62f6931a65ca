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

// Containerd is a containerd, through its own program ctr.
type Containerd struct {
	Path string // of ctr
	// Address is its socket; empty: ContainerdAddress(). Namespace is the one of its
	// images; empty: ctr's own choice.
	Address, Namespace string
	// Run starts a command and waits; nil: as it is.
	Run func(*exec.Cmd) error
}

// ContainerdAddress is the socket that $CONTAINERD_ADDRESS names, as for ctr, or else the
// one where containerd listens unless it was told otherwise.
func ContainerdAddress() string {
	return cmp.Or(os.Getenv("CONTAINERD_ADDRESS"), "/run/containerd/containerd.sock")
}

// KubeNamespace is where a kubelet looks for its images.
const KubeNamespace = "k8s.io"

// Name is "containerd".
func (Containerd) Name() string { return "containerd" }

func (c Containerd) address() string {
	return strings.TrimPrefix(cmp.Or(c.Address, ContainerdAddress()), "unix://")
}

// Can says why it cannot be asked, as far as that shows without asking it.
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

// call runs ctr, which by itself would wait longer for one that does not answer.
func (c Containerd) call(ctx context.Context, in io.Reader, args ...string) (string, error) {
	if err := c.Can(); err != nil {
		return "", err
	}
	all := []string{"--address", c.address(), "--connect-timeout", "3s"}
	if c.Namespace != "" {
		all = append(all, "--namespace", c.Namespace)
	}
	cmd := exec.CommandContext(ctx, c.Path, append(all, args...)...)
	var out, said strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	run := c.Run
	if run == nil {
		run = child.Run
	}
	if err := run(cmd); err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// LoadImage gives containerd an image.
func (c Containerd) LoadImage(ctx context.Context, file string) error {
	_, err := c.call(ctx, nil, "images", "import", "--local", file)
	if err != nil && strings.Contains(err.Error(), "not defined: -local") {
		_, err = c.call(ctx, nil, "images", "import", file) // before 1.7 there was no other way
	}
	return err
}

// LoadFrom gives containerd an image as it is written.
func (c Containerd) LoadFrom(ctx context.Context, archive io.Reader) error {
	_, err := c.call(ctx, archive, "images", "import", "-")
	return err
}

// ImageID asks containerd, which names images by the digest of their manifest.
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

// Platforms are what an image is for, "linux/amd64"; ErrNoImage: there is none.
func (c Containerd) Platforms(ctx context.Context, tag string) ([]string, error) {
	f, err := c.listed(ctx, tag)
	if err != nil {
		return nil, err
	}
	return platformsOf(f), nil
}

// listed is the line of an image: REF TYPE DIGEST SIZE PLATFORMS LABELS, where the size
// is two words.
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

// platformsOf are those in the line of an image.
func platformsOf(line []string) []string {
	for _, word := range line[2:] {
		if strings.HasPrefix(word, "linux/") || strings.HasPrefix(word, "windows/") {
			return strings.Split(word, ",")
		}
	}
	return nil
}

// RemoveImage has containerd forget a name, and what only that had.
func (c Containerd) RemoveImage(ctx context.Context, tag string) error {
	_, err := c.call(ctx, nil, "images", "rm", "--sync", tag)
	if err != nil && strings.Contains(err.Error(), "not found") {
		return nil
	}
	return err
}
