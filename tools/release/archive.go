package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// archiveName is the name of an archive without its extension, and of the directory in it.
func (r release) archiveName(a arch) string {
	return fmt.Sprintf("tare_%s_linux_%s", r.number(), a.name)
}

// archive writes the archive of an architecture.
func (r release) archive(a arch, f contents) error {
	binary, err := os.ReadFile(r.binary(a))
	if err != nil {
		return err
	}
	top := r.archiveName(a) + "/"
	t := newTree(r.at)
	t.dir(top)
	t.file(top+"tare", 0o755, binary)
	t.file(top+"LICENSE", 0o644, f.licence)
	t.file(top+"LICENSES-OF-MODULES", 0o644, f.licences)
	t.file(top+"README.md", 0o644, f.readme)
	t.file(top+"CHANGELOG.md", 0o644, f.changelog)
	for name, all := range map[string][]named{"man": f.manuals, "completions": f.completions, "docs": f.docs} {
		if len(all) > 0 {
			t.dir(top + name + "/")
		}
		for _, x := range all {
			t.file(top+name+"/"+x.name, 0o644, x.data)
		}
	}
	return r.pack(r.archiveName(a), t)
}

// schemas writes the archive of the JSON schemas.
func (r release) schemas() error {
	all, err := allIn(filepath.Join(r.work, "schemas"))
	if err != nil {
		return err
	}
	t := newTree(r.at)
	t.dir("schemas/")
	for _, x := range all {
		t.file("schemas/"+x.name, 0o644, x.data)
	}
	return r.pack("schemas", t)
}

// pack writes a tree as NAME.tar.gz.
func (r release) pack(name string, t *tree) error {
	content, err := t.bytes()
	if err == nil {
		content, err = compress(content)
	}
	if err != nil {
		return err
	}
	return r.create(name+".tar.gz", content)
}

// tree is a tar archive that is written in the order of names, all files root's.
type tree struct {
	at      time.Time
	entries map[string]entry
}

type entry struct {
	tar.Header
	data []byte
}

func newTree(at time.Time) *tree { return &tree{at, map[string]entry{}} }

func (t *tree) add(h tar.Header, data []byte) {
	h.ModTime, h.Size, h.Uname, h.Gname, h.Format = t.at, int64(len(data)), "root", "root", tar.FormatUSTAR
	t.entries[h.Name] = entry{h, data}
}

func (t *tree) dir(name string) {
	t.add(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}, nil)
}

func (t *tree) file(name string, mode int64, data []byte) {
	t.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}, data)
}

func (t *tree) link(name, target string) {
	t.add(tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}, nil)
}

// bytes is the archive.
func (t *tree) bytes() ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range sorted(t.entries) {
		e := t.entries[name]
		if err := w.WriteHeader(&e.Header); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// compress compresses without a name or a time in the header, which makes it reproducible.
func compress(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
