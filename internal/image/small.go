package image

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Small is an image that a run makes for itself and takes away again: directories,
// links and at most one program.
type Small struct {
	Tag string
	// Dirs are directories, Shared those in which every user may write.
	Dirs, Shared []string
	Links        map[string]string // by name, at the top
	// Program is the path of its program, and Source where this host has that; empty:
	// it has none.
	Program, Source string
}

// Write writes it in the form that engines load. The source is read twice: its digest
// stands before it.
func (s Small) Write(w io.Writer) error {
	tag, err := name.NewTag(s.Tag)
	if err != nil {
		return fmt.Errorf("name the image: %w", err)
	}
	l, err := s.tree().stream()
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	var c v1.Config
	if s.Program != "" {
		c.Entrypoint = []string{s.Program}
	}
	img, err := assemble(l, c, v1.History{CreatedBy: "tare run"})
	if err == nil {
		err = tarball.Write(tag, img, w)
	}
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	return nil
}

func (s Small) tree() *tree {
	t := newTree()
	for _, dir := range s.Shared {
		t.mkdir(dir, 0o777|fs.ModeSticky)
	}
	for _, dir := range s.Dirs {
		t.mkdir(dir, 0o755)
	}
	for link, target := range s.Links {
		t.entries[link] = entry{mode: fs.ModeSymlink | 0o777, link: target}
	}
	if s.Program != "" {
		t.program(s.Program, 0o755, s.Source)
	}
	return t
}
