// Package imagebuild makes container images for tests: tare's own binary with programs of
// this host, the files of their Debian packages and the libraries that they load, as one
// layer in an archive that every engine reads. The same files make the same image, to the
// digest. No program links it.
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
	// Exe is the test's own binary in the image.
	Exe = "/usr/local/bin/tare"
	// UserID is the user and the group of the image, without any right: PodSecurity's
	// "restricted" admits it.
	UserID = 65532

	defaultTag   = "localhost/tare:latest"
	pathVariable = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// epoch is the time of every file: the current time would give each image another digest.
var epoch = time.Unix(0, 0).UTC()

// Build writes an image and returns what its archive says. Self is the binary at Exe.
// Programs are names in PATH, or paths of programs, files and directories of this host.
// An empty tag is localhost/tare:latest.
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

// Foreign writes an image without files for a machine that nobody has here.
func Foreign(t testing.TB, tag string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "image.tar")
	if err := save(file, tag, v1.ConfigFile{OS: "linux", Architecture: "riscv64"}); err != nil {
		t.Fatal(err)
	}
	return file
}

// build packs the files into a layer in work, and that into an image.
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
	user := fmt.Sprintf("%d:%d", UserID, UserID)
	return save(file, tag, v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, Created: v1.Time{Time: epoch}, Config: v1.Config{
		Entrypoint: []string{Exe}, Env: []string{pathVariable}, WorkingDir: "/", User: user,
	}}, layer)
}

// fill makes the tree of an image.
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

// save writes an image of a configuration and layers.
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
