package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// Images is where images can be put.
type Images interface {
	Name() string
	// LoadImage takes an archive as docker save writes it.
	LoadImage(ctx context.Context, file string) error
	// ImageID is the digest of the configuration of an image, or ErrNoImage.
	ImageID(ctx context.Context, tag string) (string, error)
	// RemoveImage takes a name away; one that is not there is fine.
	RemoveImage(ctx context.Context, tag string) error
}

var _, _, _ Images = Docker{}, Podman{}, Containerd{}

// ErrNoImage means that there is no such image.
var ErrNoImage = errors.New("no such image")

// LoadImage gives the daemon an image.
func (d Docker) LoadImage(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return d.loadFrom(ctx, f)
}

// Image asks the daemon.
func (d Docker) Image(ctx context.Context, name string) (Image, error) {
	var i struct{ ID, Os, Architecture string }
	err := d.api.ask(ctx, http.MethodGet, "/images/"+name+"/json", nil, nil, &i)
	if notThere(err) {
		return Image{}, ErrNoImage
	}
	return Image{i.ID, i.Os, i.Architecture}, failed("image inspect", err)
}

// ImageID asks the daemon.
func (d Docker) ImageID(ctx context.Context, tag string) (string, error) {
	i, err := d.Image(ctx, tag)
	return i.ID, err
}

// RemoveImage has the daemon forget a name.
func (d Docker) RemoveImage(ctx context.Context, tag string) error { return d.untag(ctx, tag) }

// LoadImage gives Podman an image.
func (p Podman) LoadImage(ctx context.Context, file string) error {
	_, err := p.call(ctx, "load", "--quiet", "--input", file)
	return err
}

// Image asks Podman.
func (p Podman) Image(ctx context.Context, name string) (Image, error) {
	out, err := p.call(ctx, "image", "inspect", "--format", "{{.Id}} {{.Os}} {{.Architecture}}", name)
	if err != nil {
		return Image{}, err
	}
	f := strings.Fields(out)
	if len(f) != 3 {
		return Image{}, fmt.Errorf("podman image inspect said %q", out)
	}
	return Image{"sha256:" + strings.TrimPrefix(f[0], "sha256:"), f[1], f[2]}, nil
}

// ImageID asks Podman.
func (p Podman) ImageID(ctx context.Context, tag string) (string, error) {
	i, err := p.Image(ctx, tag)
	return i.ID, err
}

// RemoveImage has Podman forget a name.
func (p Podman) RemoveImage(ctx context.Context, tag string) error {
	_, err := p.call(ctx, "image", "rm", tag)
	if errors.Is(err, ErrNoImage) {
		return nil
	}
	return err
}

// Containerd is a containerd, through its own program ctr.
type Containerd struct {
	Path string // of ctr
	// Address is its socket and Namespace the one of its images; empty: those of
	// ctr, which are /run/containerd/containerd.sock and "default".
	Address, Namespace string
}

// KubeNamespace is where a kubelet looks for its images.
const KubeNamespace = "k8s.io"

// Name is "containerd".
func (Containerd) Name() string { return "containerd" }

func (c Containerd) call(ctx context.Context, args ...string) (string, error) {
	all := []string{"--connect-timeout", "3s"}
	if c.Address != "" {
		all = append(all, "--address", strings.TrimPrefix(c.Address, "unix://"))
	}
	if c.Namespace != "" {
		all = append(all, "--namespace", c.Namespace)
	}
	cmd := exec.CommandContext(ctx, c.Path, append(all, args...)...)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(failed.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// LoadImage gives containerd an image.
func (c Containerd) LoadImage(ctx context.Context, file string) error {
	_, err := c.call(ctx, "images", "import", "--local", file)
	if err != nil && strings.Contains(err.Error(), "not defined: -local") {
		_, err = c.call(ctx, "images", "import", file) // before 1.7 there was no other way
	}
	return err
}

// ImageID asks containerd, which names images by the digest of their manifest.
func (c Containerd) ImageID(ctx context.Context, tag string) (string, error) {
	list, err := c.call(ctx, "images", "list", "name=="+tag)
	if err != nil {
		return "", err
	}
	// REF TYPE DIGEST SIZE PLATFORMS LABELS
	lines := strings.Split(list, "\n")
	f := strings.Fields(lines[len(lines)-1])
	if len(f) < 3 || f[0] != tag {
		return "", ErrNoImage
	}
	text, err := c.call(ctx, "content", "get", f[2])
	if err != nil {
		return "", err
	}
	var manifest struct{ Config struct{ Digest string } }
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || manifest.Config.Digest == "" {
		return "", fmt.Errorf("the manifest of %s names no configuration: %q", tag, firstLine(text))
	}
	return manifest.Config.Digest, nil
}

// RemoveImage has containerd forget a name.
func (c Containerd) RemoveImage(ctx context.Context, tag string) error {
	_, err := c.call(ctx, "images", "remove", tag)
	return err
}
