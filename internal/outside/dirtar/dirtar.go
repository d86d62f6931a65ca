// Package dirtar sends a directory over a stream as a tar archive of directories, plain
// files and symbolic links. It must not know what the files hold.
package dirtar

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a directory. If there is none the archive is empty.
func Write(w io.Writer, dir string) error {
	out := tar.NewWriter(w)
	if _, err := os.Stat(dir); err == nil {
		if err := out.AddFS(os.DirFS(dir)); err != nil {
			return err
		}
	}
	return out.Close()
}

// bounds limit somebody else's archive, packed and unpacked.
type bounds struct {
	bytes   int64
	entries int // files and directories, with the directories above them
}

// longestName is the longest path that the kernel accepts, in bytes (PATH_MAX less the NUL).
const longestName = 4095

// most is far above a record of some days, which has some GiB in a few files.
var most = bounds{bytes: 16 << 30, entries: 100_000}

// Read unpacks an archive of Write into dir, and returns the number of files. It makes
// directories and plain files, none outside of dir, none over an existing file, and not
// more than most. own says that this tare wrote the archive: it is then unpacked without
// bounds, with permissions and with links. Links in archives of others are dropped, because
// several links together can lead out of dir.
func Read(r io.Reader, dir string, own bool) (files int, err error) { return most.read(r, dir, own) }

func (b bounds) read(r io.Reader, dir string, own bool) (files int, err error) {
	if !own {
		r = &bounded{r, b.bytes, b.bytes}
	}
	in := tar.NewReader(r)
	content := io.Reader(in)
	if !own { // a hole takes no space in an archive and much on a disk
		content = &bounded{in, b.bytes, b.bytes}
	}
	var made Entries
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r) // the padding
			return files, err
		}
		if err != nil {
			return files, err
		}
		if !within(h) {
			return files, fmt.Errorf("a file called %.100q", h.Name)
		}
		if err := made.add(h.Name, b.entries); err != nil && !own {
			return files, err
		}
		path := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
			if err == nil && own {
				err = os.Chmod(path, h.FileInfo().Mode().Perm()|0o700)
			}
		case tar.TypeSymlink:
			if !own {
				continue
			}
			if !filepath.IsLocal(filepath.Join(filepath.Dir(h.Name), h.Linkname)) || filepath.IsAbs(h.Linkname) {
				return files, fmt.Errorf("a link to %q", h.Linkname)
			}
			err = os.Symlink(h.Linkname, path)
		case tar.TypeReg:
			files++
			err = unpack(content, path, h.FileInfo().Mode().Perm(), own)
		}
		if err != nil {
			return files, err
		}
	}
}

// within says whether a name is a path below the directory, or the directory itself. A name
// that is too long is refused before it is parsed.
func within(h *tar.Header) bool {
	return len(h.Name) <= longestName && filepath.IsLocal(h.Name) && (filepath.Clean(h.Name) != "." || h.Typeflag == tar.TypeDir)
}

// Entries counts files, directories and bytes that an archive unpacks to.
type Entries struct {
	n     int
	bytes int64
	dirs  map[string]bool // counted already
}

// Add counts a file or directory of somebody else's archive before it is unpacked, and the
// directories above it, of which a name of a few KiB can have thousands. It returns an
// error when a bound is exceeded.
func (e *Entries) Add(h *tar.Header) error {
	if len(h.Name) > longestName {
		return fmt.Errorf("a file called %.100q", h.Name)
	}
	if h.Size > most.bytes-e.bytes {
		return fmt.Errorf("more than %d bytes", most.bytes)
	}
	e.bytes += max(0, h.Size)
	return e.add(h.Name, most.entries)
}

func (e *Entries) add(name string, most int) error {
	if e.dirs == nil {
		e.dirs = map[string]bool{".": true, "/": true}
	}
	e.n++
	for dir := filepath.Dir(filepath.Clean(name)); !e.dirs[dir]; dir = filepath.Dir(dir) {
		e.dirs[dir] = true
		e.n++
	}
	if e.n > most {
		return fmt.Errorf("more than %d files and directories", most)
	}
	return nil
}

// bounded is a reader that fails when it has read more than most.
type bounded struct {
	io.Reader
	most, left int64 // bytes
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return max(0, n+int(b.left)), fmt.Errorf("more than %d bytes", b.most)
	}
	return n, err
}

func unpack(r io.Reader, path string, mode fs.FileMode, exact bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil && exact {
		err = f.Chmod(mode)
	}
	return errors.Join(err, f.Close())
}
