package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Small is an image that a run makes for itself and removes at its end. It holds
// directories, links and at most one program, all owned by root. The same files make an
// image with the same digest.
type Small struct {
	Tag string
	// Dirs are directories of mode 0755; Shared are directories in which every user may write,
	// like /tmp.
	Dirs, Shared []string
	Links        map[string]string // symbolic links in the root directory: target by name
	// Program is the path of the program in the image, Source its path on this host. Both
	// are absolute, and empty in an image without a program.
	Program, Source string
}

// epoch is the modification time of every file. With the current time each image would have
// another digest.
var epoch = time.Unix(0, 0).UTC()

// Write writes the archive that engines load: configuration, layer and manifest. The
// source is read twice, because the layer's digest is written before the layer.
func (s Small) Write(w io.Writer) error {
	if err := s.write(w); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	return nil
}

func (s Small) write(w io.Writer) error {
	digest, size := sha256.New(), counted(0)
	if err := s.writeLayer(io.MultiWriter(digest, &size)); err != nil {
		return err
	}
	layer := hex.EncodeToString(digest.Sum(nil))
	config, err := json.Marshal(s.config("sha256:" + layer))
	if err != nil {
		return err
	}
	// Some engines read the image's ID from the file's name, others compute the digest.
	id := sha256.Sum256(config)
	names := manifestEntry{Config: "sha256:" + hex.EncodeToString(id[:]), RepoTags: []string{s.Tag}, Layers: []string{layer + ".tar"}}
	manifest, err := json.Marshal([]manifestEntry{names})
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	if err := writeFile(archive, names.Config, config); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: names.Layers[0], Mode: 0o444, Size: int64(size), ModTime: epoch}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	if err := s.writeLayer(archive); err != nil {
		return err
	}
	if err := writeFile(archive, "manifest.json", manifest); err != nil {
		return err
	}
	return archive.Close()
}

// manifestEntry is an image in the manifest.json of docker save.
type manifestEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// config is the image's configuration after the OCI image specification.
func (s Small) config(layer string) any {
	type object = map[string]any
	run := object{}
	if s.Program != "" {
		run["Entrypoint"] = []string{s.Program}
	}
	return object{
		"architecture": runtime.GOARCH, "os": "linux", "created": epoch, "config": run,
		"rootfs":  object{"type": "layers", "diff_ids": []string{layer}},
		"history": []object{{"created": epoch, "created_by": "tare run"}},
	}
}

// writeLayer writes the files as a tar archive, each directory before its content. Without
// compression the digest does not depend on a version of a compressor.
func (s Small) writeLayer(w io.Writer) error {
	layer := tar.NewWriter(w)
	entries := s.entries()
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		h := entries[name]
		h.ModTime = epoch
		if err := layer.WriteHeader(h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if s.Program != "" {
		if err := s.writeProgram(layer); err != nil {
			return fmt.Errorf("%s: %w", s.Program, err)
		}
	}
	return layer.Close()
}

// entries are the directories and links by their paths.
func (s Small) entries() map[string]*tar.Header {
	entries := map[string]*tar.Header{}
	add := func(dir string, mode fs.FileMode) {
		for ; dir != "." && dir != "/" && entries[dir] == nil; dir, mode = path.Dir(dir), 0o755 {
			entries[dir] = &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: int64(mode)}
		}
	}
	const sticky = 0o1000 // S_ISVTX
	for _, dir := range s.Shared {
		add(dir, sticky|0o777)
	}
	for _, dir := range s.Dirs {
		add(dir, 0o755)
	}
	add(path.Dir(s.programName()), 0o755)
	for link, target := range s.Links {
		entries[link] = &tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: target, Mode: 0o777}
	}
	return entries
}

// programName is the path of the program without the slash in front, as archives have it.
func (s Small) programName() string { return strings.TrimPrefix(s.Program, "/") }

func (s Small) writeProgram(layer *tar.Writer) error {
	f, err := os.Open(s.Source)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: s.programName(), Mode: 0o755, Size: st.Size(), ModTime: epoch}
	if err := layer.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(layer, f)
	return err
}

func writeFile(w *tar.Writer, name string, content []byte) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o444, Size: int64(len(content)), ModTime: epoch}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

// counted counts the bytes that are written to it.
type counted int64

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}
