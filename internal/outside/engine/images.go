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

// Images is where images can be put. ImageID of one that is not there is ErrNoImage.
type Images interface {
	image.Engine
	// RemoveImage takes a name away; one that is not there is fine.
	RemoveImage(ctx context.Context, tag string) error
}

var _, _ Images = Engine{}, Containerd{}

// ErrNoImage means that there is no such image.
var ErrNoImage = errors.New("no such image")

// Image is what an engine says of an image.
type Image struct {
	ID       string // digest of its configuration
	OS, Arch string // "linux" and GOARCH's words
}

// LoadImage gives the engine an image.
func (e Engine) LoadImage(ctx context.Context, file string) error {
	_, err := e.call(ctx, "load", "--quiet", "--input", file)
	return err
}

// Image looks at an image by its name; ErrNoImage: it has none.
func (e Engine) Image(ctx context.Context, name string) (Image, error) {
	out, err := e.call(ctx, "image", "inspect", "--format", "{{.Id}} {{.Os}} {{.Architecture}}", name)
	if err != nil {
		return Image{}, err
	}
	f := strings.Fields(out)
	if len(f) != 3 {
		return Image{}, fmt.Errorf("%s image inspect said %q", e.Name(), out)
	}
	return Image{digest(f[0]), f[1], f[2]}, nil
}

// ImageID asks the engine.
func (e Engine) ImageID(ctx context.Context, tag string) (string, error) {
	i, err := e.Image(ctx, tag)
	return i.ID, err
}

// RemoveImage has the engine forget a name, and the image with its last one.
func (e Engine) RemoveImage(ctx context.Context, tag string) error {
	_, err := e.call(ctx, "image", "rm", tag)
	if errors.Is(err, ErrNoImage) {
		return nil
	}
	return err
}

// imageOf is the image of a container of that name whose root is a directory.
func imageOf(name string) string { return "tare-root:" + name }

// loadLinks gives the engine an image which holds links and nothing else. The same links
// are the same image, to the digest.
func (e Engine) loadLinks(ctx context.Context, tag string, links map[string]string) error {
	var archive bytes.Buffer
	if err := (image.Small{Tag: tag, Links: links}).Write(&archive); err != nil {
		return err
	}
	_, err := e.feed(ctx, &archive, "load", "--quiet")
	return err
}

// top is what is at the top of a root file system.
type top struct {
	dirs  []string
	links map[string]string // name to target
}

// readTop leaves out the file systems that every container has of its own.
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
