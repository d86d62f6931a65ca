package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/outside/image"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/launchtest"
)

// fromImage opens an arm whose root is an image and finds its digest in the settings. An image that does not
// exist or is for another architecture is refused with a remedy.
func fromImage(t *testing.T, k Kind, images engine.Images) {
	built := buildImage(t)
	load := func(tag, file string) {
		if err := images.LoadImage(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := images.RemoveImage(context.Background(), tag); err != nil {
				t.Error(err)
			}
		})
	}
	load(built.Tag, built.File)
	foreign := fmt.Sprintf("localhost/tare-test-foreign:e%d", os.Getpid())
	load(foreign, imagebuild.Foreign(t, foreign))

	a := launchtest.Open(t, k, func(s *environment.Spec) {
		s.Bind, s.Container = true, environment.Container{Image: built.Tag}
	})
	_, v := launchtest.Start(t, a, environment.Process{})
	if !slices.Equal(v.Volume, []string{"table"}) || v.Status["Uid"] != "0\t0\t0\t0" {
		t.Errorf("volume %v, user %s", v.Volume, v.Status["Uid"])
	}
	settings, err := a.Settings()
	if err != nil {
		t.Error(err)
	}
	digest := ""
	for _, s := range settings {
		if s.Name == k.Name()+".image" {
			digest = s.Got
		}
	}
	if digest != built.ID {
		t.Errorf("image %q in the settings, want %s", digest, built.ID)
	}
	if err := k.Check(t.Context(), environment.Container{Image: built.Tag}); err != nil {
		t.Error(err)
	}
	for name, says := range map[string]string{"localhost/tare-none:1": "has no image", foreign: "linux/riscv64"} {
		refused(t, k, name, says)
		if err := k.Check(t.Context(), environment.Container{Image: name}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s, before a run: %v", name, err)
		}
	}
}

// buildImage makes an image with this binary and its libraries.
func buildImage(t *testing.T) image.Info {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return imagebuild.Build(t, fmt.Sprintf("localhost/tare-test:e%d", os.Getpid()), self)
}

func refused(t *testing.T, k Kind, name, says string) {
	t.Helper()
	state := t.TempDir()
	spec := launchtest.Spec(t, k, state)
	spec.Bind, spec.Container = true, environment.Container{Image: name}
	a, err := k.Open(t.Context(), spec)
	if err == nil {
		a.Close()
	}
	if !errors.Is(err, facts.ErrUnsupported) || !strings.Contains(err.Error(), says) || hint.Of(err) == "" {
		t.Errorf("%s: %v, want ErrUnsupported that says %q", name, err, says)
	}
	if left, _ := os.ReadDir(spec.Scratch); len(left) > 0 {
		t.Errorf("left in scratch: %v", left)
	}
}
