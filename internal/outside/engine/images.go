package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/outside/image"
)

// Images is a store of images. ImageID of a missing image is ErrNoImage.
type Images interface {
	image.Engine
	// RemoveImage removes a name of an image; a missing name is no error.
	RemoveImage(ctx context.Context, tag string) error
}

var _, _ Images = Engine{}, Containerd{}

// ErrNoImage means that there is no such image.
var ErrNoImage = errors.New("no such image")

// Image describes an image in an engine.
type Image struct {
	ID       string // digest of its configuration
	OS, Arch string // "linux" and GOARCH's words
}

// LoadImage loads an archive into the engine.
func (e Engine) LoadImage(ctx context.Context, file string) error {
	_, err := e.call(ctx, "load", "--quiet", "--input", file)
	return err
}

// Image inspects an image by its name; ErrNoImage: there is none.
func (e Engine) Image(ctx context.Context, name string) (Image, error) {
	out, err := e.call(ctx, "image", "inspect", "--format", "{{.Id}} {{.Os}} {{.Architecture}}", name)
	if err != nil {
		return Image{}, err
	}
	f := strings.Fields(out)
	if len(f) != 3 {
		return Image{}, fmt.Errorf("%s image inspect printed %q", e.Name(), out)
	}
	return Image{digest(f[0]), f[1], f[2]}, nil
}

// ImageID is the digest of the configuration of an image.
func (e Engine) ImageID(ctx context.Context, tag string) (string, error) {
	i, err := e.Image(ctx, tag)
	return i.ID, err
}

// RemoveImage removes a name of an image, and the image with its last name.
func (e Engine) RemoveImage(ctx context.Context, tag string) error {
	_, err := e.call(ctx, "image", "rm", tag)
	if errors.Is(err, ErrNoImage) {
		return nil
	}
	return err
}

// imageOf is the name of the image that Docker needs for a container whose root is a
// directory.
func imageOf(name string) string { return "tare-root:" + name }

// loadLinks loads an image of symbolic links and nothing else. The same links make an image
// with the same digest.
func (e Engine) loadLinks(ctx context.Context, tag string, links map[string]string) error {
	var archive bytes.Buffer
	if err := (image.Small{Tag: tag, Links: links}).Write(&archive); err != nil {
		return err
	}
	_, err := e.feed(ctx, &archive, "load", "--quiet")
	return err
}

// top lists the top of a root file system.
type top struct {
	dirs  []string
	links map[string]string // name to target
}

// readTop reads the top of a root file system without /dev, /proc and /sys, of which every
// container has its own.
func readTop(root string) (top, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return top{}, fmt.Errorf("list the root file system: %w", err)
	}
	t := top{links: map[string]string{}}
	for _, e := range entries {
		switch {
		case slices.Contains([]string{"dev", "proc", "sys"}, e.Name()):
		case e.IsDir():
			t.dirs = append(t.dirs, e.Name())
		case e.Type()&os.ModeSymlink != 0:
			if t.links[e.Name()], err = os.Readlink(filepath.Join(root, e.Name())); err != nil {
				return t, fmt.Errorf("read a link of the root file system: %w", err)
			}
		}
	}
	return t, nil
}
