// Package image reads archives of container images, as docker save writes them, loads them
// into engines, and writes the small image that a run makes for itself. It must not know arms.
package image

import (
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/tarelab/tare/internal/base/hint"
)

// saveHint says how to get an archive.
const saveHint = "docker save NAME -o FILE writes such an archive"

// Info describes the image of an archive.
type Info struct {
	File, Tag string
	// ID is the digest of the image's configuration, which engines use as the image's name.
	ID       string
	OS, Arch string
}

// Open reads the description of the image in an archive.
func Open(file string) (Info, error) {
	i := Info{File: file}
	if _, err := os.Stat(file); err != nil {
		return i, hint.New(fmt.Errorf("open the image: %w", err), saveHint)
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err == nil && len(manifest) != 1 {
		err = fmt.Errorf("%d images in it, want one", len(manifest))
	}
	if err != nil {
		return i, hint.New(fmt.Errorf("%s is no image archive: %w", file, err), saveHint)
	}
	if tags := manifest[0].RepoTags; len(tags) > 0 {
		i.Tag = tags[0]
	}
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return i, fmt.Errorf("read the image %s: %w", file, err)
	}
	id, err := img.ConfigName()
	if err != nil {
		return i, fmt.Errorf("read the image %s: %w", file, err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return i, fmt.Errorf("read the image %s: %w", file, err)
	}
	i.ID, i.OS, i.Arch = id.String(), config.OS, config.Architecture
	return i, nil
}
