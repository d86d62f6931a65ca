package image_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/outside/image"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestLoad loads an image, and the small image of a run, into each engine, asks for its
// digest and removes it.
func TestLoad(t *testing.T) {
	testneed.Root(t)
	podman, ctr := testneed.Tool(t, "podman"), testneed.Tool(t, "ctr")
	daemon := enginetest.Docker(t)
	tag := fmt.Sprintf("localhost/tare-test:p%d", os.Getpid())
	images := []image.Info{imagebuild.Build(t, tag, testneed.Tool(t, "true")), small(t, tag)}
	docker, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONTAINERD_ADDRESS", daemon.Containerd) // which ctr reads too
	for _, into := range []engine.Images{
		docker, engine.NewPodman(podman),
		engine.Containerd{Path: ctr, Namespace: engine.KubeNamespace},
	} {
		for _, i := range images {
			t.Run(into.Name(), func(t *testing.T) { loads(t, into, i) })
		}
	}
}

// small is an archive of a small image with a directory, a link and a program.
func small(t *testing.T, tag string) image.Info {
	t.Helper()
	var b bytes.Buffer
	s := image.Small{Tag: tag, Shared: []string{"var/tmp"}, Links: map[string]string{"bin": "usr/bin"}, Program: "/a/program", Source: "/proc/self/exe"}
	file := filepath.Join(t.TempDir(), "small.tar")
	if err := errors.Join(s.Write(&b), os.WriteFile(file, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	i, err := image.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func loads(t *testing.T, into engine.Images, i image.Info) {
	ctx := t.Context()
	if _, err := into.ImageID(ctx, i.Tag); !errors.Is(err, engine.ErrNoImage) {
		t.Fatalf("%v, want that there is no image yet", err)
	}
	if err := i.Load(ctx, into); err != nil {
		t.Error(err)
	}
	if err := into.RemoveImage(ctx, i.Tag); err != nil {
		t.Error(err)
	}
	if _, err := into.ImageID(ctx, i.Tag); !errors.Is(err, engine.ErrNoImage) {
		t.Errorf("%v, want that the image is gone", err)
	}
	if err := into.RemoveImage(ctx, i.Tag); err != nil {
		t.Errorf("removed twice: %v", err)
	}
}

// TestNobodyThere: the error says that an engine does not run.
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
