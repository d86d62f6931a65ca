package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/outside/image"
)

// ImageOf is the name of the image of a run, which holds tare's binary alone. It is in no
// registry.
func ImageOf(run string) string { return "localhost/tare:" + run }

// imageBound is how long a containerd may take for an image: minutes on a busy disk.
const imageBound = 5 * time.Minute

// Containerd is the containerd of the node that this host is.
type Containerd struct{ engine.Containerd }

// NewContainerd is the containerd at $CONTAINERD_ADDRESS, or at the default socket.
func NewContainerd() Containerd {
	return containerdAt(engine.ContainerdAddress())
}

// containerdAt is the containerd at a socket.
func containerdAt(address string) Containerd {
	return Containerd{engine.Containerd{Path: "ctr", Address: address, Namespace: engine.KubeNamespace}}
}

// Load loads the image of a run: the binary at the path self of this host, and links at the
// top of the root file system.
func (c Containerd) Load(ctx context.Context, run, self string, links map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, imageBound)
	defer cancel()
	r, w := io.Pipe()
	go func() { w.CloseWithError(imageFor(run, self, links).Write(w)) }()
	defer r.Close()
	return c.LoadFrom(ctx, r)
}

func imageFor(run, self string, links map[string]string) image.Small {
	return image.Small{
		Tag: ImageOf(run), Dirs: []string{"etc", "run"}, Shared: []string{"tmp", "var/tmp"}, Links: links,
		Program: Exe, Source: self,
	}
}

// Remove removes an image; a missing image is no error.
func (c Containerd) Remove(image string) error {
	ctx, cancel := context.WithTimeout(context.Background(), imageBound)
	defer cancel()
	return c.RemoveImage(ctx, image)
}

// Fits returns an error if the node's image of that name is for another architecture:
// tare's binary would start in it, and the programs of the load would not. A missing image
// is no error, because it may come from a registry.
func (c Containerd) Fits(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), imageBound)
	defer cancel()
	platforms, err := c.Platforms(ctx, name)
	if errors.Is(err, engine.ErrNoImage) || err == nil && len(platforms) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	own := "linux/" + runtime.GOARCH
	for _, p := range platforms {
		if p == own || strings.HasPrefix(p, own+"/") {
			return nil
		}
	}
	return hint.New(fmt.Errorf("%w: %s is for %s, and the node is %s", image.ErrForeign, name, strings.Join(platforms, ", "), own),
		"name an image that is for it, or build one: docker build --platform "+own)
}
