package image_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/engine/enginetest"
	"github.com/tarelab/tare/internal/image"
	"github.com/tarelab/tare/internal/testneed"
)

// TestLoad puts an image into each engine, asks for it by its digest and takes it
// away again.
func TestLoad(t *testing.T) {
	testneed.Root(t)
	podman, ctr := testneed.Tool(t, "podman"), testneed.Tool(t, "ctr")
	daemon := enginetest.Docker(t)
	tag := fmt.Sprintf("localhost/tare-test:p%d", os.Getpid())
	i, err := image.Build(t.Context(), image.Options{
		Out: filepath.Join(t.TempDir(), "image.tar"), Self: testneed.Tool(t, "true"), Tag: tag, Work: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	docker, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONTAINERD_ADDRESS", daemon.Containerd) // as for ctr
	for _, into := range []engine.Images{
		docker, engine.NewPodman(podman),
		engine.Containerd{Path: ctr, Namespace: engine.KubeNamespace},
	} {
		t.Run(into.Name(), func(t *testing.T) {
			ctx := t.Context()
			if _, err := into.ImageID(ctx, tag); !errors.Is(err, engine.ErrNoImage) {
				t.Fatalf("%v, want that there is no image yet", err)
			}
			if err := i.Load(ctx, into); err != nil {
				t.Error(err)
			}
			if err := into.RemoveImage(ctx, tag); err != nil {
				t.Error(err)
			}
			if _, err := into.ImageID(ctx, tag); !errors.Is(err, engine.ErrNoImage) {
				t.Errorf("%v, want that the image is gone", err)
			}
			if err := into.RemoveImage(ctx, tag); err != nil {
				t.Errorf("removed twice: %v", err)
			}
		})
	}
}

// TestNobodyThere: an engine that is not running is an error that says so.
func TestNobodyThere(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	docker, err := engine.NewDocker("unix://" + socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := docker.ImageID(t.Context(), "x"); err == nil {
		t.Error("an image of nobody's")
	}
	c := engine.Containerd{Path: testneed.Tool(t, "ctr"), Address: socket}
	if err := c.LoadImage(t.Context(), "x"); err == nil {
		t.Error("loaded into nothing")
	}
}
