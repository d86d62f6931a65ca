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

// Fits says whether an image runs on this machine.
func (i Info) Fits() error {
	if i.OS == "linux" && i.Arch == runtime.GOARCH {
		return nil
	}
	return hint.New(fmt.Errorf("%w: %s is for %s/%s, and this machine is linux/%s", ErrForeign, i.File, i.OS, i.Arch, runtime.GOARCH),
		"build it for this machine: docker build --platform linux/"+runtime.GOARCH)
}

// Engine is one that takes images.
type Engine interface {
	Name() string
	// LoadImage takes an archive as docker save writes it.
	LoadImage(ctx context.Context, file string) error
	// ImageID is the digest of the configuration of an image.
	ImageID(ctx context.Context, tag string) (string, error)
}

// Load gives the image to an engine and sees to it that the engine has it then.
func (i Info) Load(ctx context.Context, into Engine) error {
	if err := i.Fits(); err != nil {
		return err
	}
	if i.Tag == "" {
		return hint.New(fmt.Errorf("%s has no name, by which an engine could find it", i.File), "docker save NAME -o FILE, with the name and not the ID")
	}
	if err := into.LoadImage(ctx, i.File); err != nil {
		return err
	}
	id, err := into.ImageID(ctx, i.Tag)
	if err == nil && id != i.ID {
		err = fmt.Errorf("it has %s under the name %s, and %s was loaded", id, i.Tag, i.ID)
	}
	if err != nil {
		return fmt.Errorf("%s took the image, but: %w", into.Name(), err)
	}
	return nil
}
