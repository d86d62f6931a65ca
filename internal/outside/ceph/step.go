package ceph

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/undo/journal"
)

// ImageStep removes an image with -tare-RUN- in its name.
type ImageStep struct{ stepOf }

// MappingStep unmaps the devices of an image.
type MappingStep struct{ stepOf }

// stepOf holds the fields of a step about an image.
type stepOf struct {
	Config string `json:"path,omitempty"` // Pool.Config
	Image  string `json:"id,omitempty"`   // POOL/NAME
}

// Step is the step that removes the image.
func (i Image) Step() ImageStep { return ImageStep{stepOf{i.Config, i.String()}} }

// MappingStep is the step that unmaps the image's devices.
func (i Image) MappingStep() MappingStep { return MappingStep{stepOf{i.Config, i.String()}} }

// Kind is the word for it in a journal.
func (ImageStep) Kind() string { return "rbd" }

// Kind is the word for it in a journal.
func (MappingStep) Kind() string { return "rbd-map" }

// String names the image.
func (s ImageStep) String() string { return s.Kind() + " " + s.Image }

// String names the image.
func (s MappingStep) String() string { return s.Kind() + " " + s.Image }

// Lasts is true: the image is in the cluster.
func (ImageStep) Lasts() bool { return true }

// Lasts is false: devices end with the machine.
func (MappingStep) Lasts() bool { return false }

// Check refuses images that are not the run's.
func (s stepOf) Check(run string) error {
	_, name, _ := strings.Cut(s.Image, "/")
	own := filepath.IsAbs(s.Config) && !strings.Contains(name, "/") && strings.Contains(name, "-"+journal.Prefix+run+"-")
	return journal.Own(own, s.Config+s.Image)
}

// Undo removes the image with the tools in PATH.
func (s ImageStep) Undo(*journal.Undoing) error { return s.image().Remove(context.Background()) }

// Undo unmaps the devices.
func (s MappingStep) Undo(*journal.Undoing) error { return s.image().Unmap() }

func (s stepOf) image() Image {
	pool, name, _ := strings.Cut(s.Image, "/")
	return Image{Pool: Pool{Config: s.Config, Name: pool}, Name: name}
}
