package image

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tarelab/tare/internal/base/hint"
)

// ErrForeign means that an image is for another architecture than this machine.
var ErrForeign = errors.New("the image is for another architecture")

// Fits returns an error if the image does not run on this machine.
func (i Info) Fits() error {
	if i.OS == "linux" && i.Arch == runtime.GOARCH {
		return nil
	}
	return hint.New(fmt.Errorf("%w: %s is for %s/%s, and this machine is linux/%s", ErrForeign, i.File, i.OS, i.Arch, runtime.GOARCH),
		"build it for this machine: docker build --platform linux/"+runtime.GOARCH)
}

// Engine is an engine that stores images.
type Engine interface {
	Name() string
	// LoadImage loads an archive as docker save writes it.
	LoadImage(ctx context.Context, file string) error
	// ImageID is the digest of an image's configuration.
	ImageID(ctx context.Context, tag string) (string, error)
}

// Load loads the image into an engine, and reads back that the engine has it.
func (i Info) Load(ctx context.Context, into Engine) error {
	if err := i.Fits(); err != nil {
		return err
	}
	if i.Tag == "" {
		return hint.New(fmt.Errorf("the image in %s has no name", i.File), "docker save NAME -o FILE, with the name and not the ID")
	}
	if err := into.LoadImage(ctx, i.File); err != nil {
		return err
	}
	id, err := into.ImageID(ctx, i.Tag)
	if err == nil && id != i.ID {
		err = fmt.Errorf("%s is %s there, and %s was loaded", i.Tag, id, i.ID)
	}
	if err != nil {
		return fmt.Errorf("read back the image from %s: %w", into.Name(), err)
	}
	return nil
}
