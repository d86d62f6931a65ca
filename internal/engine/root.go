package engine

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// writeRoot writes an image that holds links and nothing else, in the form that
// docker load takes. The same links are the same image, to the digest.
func writeRoot(w io.Writer, tag string, links map[string]string) error {
	var content bytes.Buffer
	tw := tar.NewWriter(&content)
	var errs []error
	for _, link := range slices.Sorted(maps.Keys(links)) {
		errs = append(errs, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: links[link], Mode: 0o777}))
	}
	if err := errors.Join(append(errs, tw.Close())...); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	})
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err == nil {
		img, err = mutate.ConfigFile(img, hostConfig(img))
	}
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	ref, err := name.NewTag(tag)
	if err != nil {
		return fmt.Errorf("name the image: %w", err)
	}
	return tarball.Write(ref, img, w)
}

// hostConfig says that an image is for this architecture.
func hostConfig(img v1.Image) *v1.ConfigFile {
	c, err := img.ConfigFile()
	if err != nil {
		c = &v1.ConfigFile{}
	}
	c = c.DeepCopy()
	c.OS, c.Architecture = "linux", runtime.GOARCH
	return c
}
