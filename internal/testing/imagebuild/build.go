// Package imagebuild makes container images for tests. An image is an archive in the format of
// docker save with one layer: tare's binary, programs of this host, the files of their Debian packages
// and their libraries. The same files give the same digest.
package imagebuild

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/tarelab/tare/internal/outside/image"
)

const (
	// exe is the path of the test's own binary in the image.
	exe = "/usr/local/bin/tare"
	// userID is the user and group of the image. PodSecurity's level "restricted" admits it.
	userID = 65532

	defaultTag   = "localhost/tare:latest"
	pathVariable = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// epoch is the modification time of all files, so that the digest does not change with time.
var epoch = time.Unix(0, 0).UTC()

// Build writes an image and returns the information in its archive. self is the binary at Exe.
// programs are names in PATH, or paths of programs, files and directories of this host. An empty tag
// means localhost/tare:latest.
func Build(t testing.TB, tag, self string, programs ...string) image.Info {
	t.Helper()
	if tag == "" {
		tag = defaultTag
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := build(t.Context(), t.TempDir(), file, tag, self, programs); err != nil {
		t.Fatal(err)
	}
	info, err := image.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// Foreign writes an image without files for another architecture, riscv64.
func Foreign(t testing.TB, tag string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "image.tar")
	if err := save(file, tag, v1.ConfigFile{OS: "linux", Architecture: "riscv64"}); err != nil {
		t.Fatal(err)
	}
	return file
}

// build packs the files into a layer in the directory work, and the layer into an image.
func build(ctx context.Context, work, file, tag, self string, programs []string) error {
	tree, err := fill(ctx, self, programs)
	if err != nil {
		return err
	}
	packed := filepath.Join(work, "layer.tar")
	if err := tree.pack(ctx, packed); err != nil {
		return fmt.Errorf("pack the files: %w", err)
	}
	layer, err := tarball.LayerFromFile(packed)
	if err != nil {
		return fmt.Errorf("read the layer: %w", err)
	}
	user := fmt.Sprintf("%d:%d", userID, userID)
	return save(file, tag, v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, Created: v1.Time{Time: epoch}, Config: v1.Config{
		Entrypoint: []string{exe}, Env: []string{pathVariable}, WorkingDir: "/", User: user,
	}}, layer)
}

// fill makes the root file system of an image.
func fill(ctx context.Context, self string, programs []string) (*tree, error) {
	t := newTree()
	h := host{tree: t}
	for _, p := range programs {
		if err := h.add(ctx, p); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := h.addSelf(ctx, self); err != nil {
		return nil, err
	}
	t.base(accountsOf("/etc/passwd"), accountsOf("/etc/group"))
	return t, nil
}

// save writes an image with this configuration and these layers.
func save(file, tag string, config v1.ConfigFile, layers ...v1.Layer) error {
	ref, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	config.RootFS.Type = "layers"
	img, err := mutate.ConfigFile(empty.Image, &config)
	if err != nil {
		return err
	}
	if img, err = mutate.AppendLayers(img, layers...); err != nil {
		return err
	}
	return tarball.WriteToFile(file, ref, img)
}
