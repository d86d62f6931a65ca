package image

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is a tar archive. It is not compressed: engines unpack it sooner, and its
// digest depends on no compressor.
type layer struct {
	open func() (io.ReadCloser, error)
	hash v1.Hash
	size int64
}

var _ v1.Layer = layer{}

func (l layer) Digest() (v1.Hash, error)             { return l.hash, nil }
func (l layer) DiffID() (v1.Hash, error)             { return l.hash, nil }
func (l layer) Compressed() (io.ReadCloser, error)   { return l.open() }
func (l layer) Uncompressed() (io.ReadCloser, error) { return l.open() }
func (l layer) Size() (int64, error)                 { return l.size, nil }
func (l layer) MediaType() (types.MediaType, error)  { return types.DockerUncompressedLayer, nil }

// layer packs the tree into a file.
func (t *tree) layer(ctx context.Context, path string) (layer, error) {
	f, err := os.Create(path)
	if err != nil {
		return layer{}, fmt.Errorf("pack the files: %w", err)
	}
	l, err := t.sum(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return layer{}, fmt.Errorf("pack the files: %w", err)
	}
	l.open = func() (io.ReadCloser, error) { return os.Open(path) }
	return l, nil
}

// stream is the tree as a layer that is packed anew whenever it is read: for files
// that do not change.
func (t *tree) stream() (layer, error) {
	l, err := t.sum(context.Background(), io.Discard)
	l.open = func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(t.pack(context.Background(), w)) }()
		return r, nil
	}
	return l, err
}

// sum packs the tree and says what the archive is.
func (t *tree) sum(ctx context.Context, to io.Writer) (layer, error) {
	digest, size := sha256.New(), counted(0)
	err := t.pack(ctx, io.MultiWriter(to, digest, &size))
	return layer{hash: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(digest.Sum(nil))}, size: int64(size)}, err
}

// counted counts the bytes that are written.
type counted int64

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}

// pack writes the tree as an archive.
func (t *tree) pack(ctx context.Context, to io.Writer) error {
	w := tar.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := pack(w, name, t.entries[name]); err != nil {
			return err
		}
	}
	return w.Close()
}

// pack writes one entry.
func pack(w *tar.Writer, name string, e entry) error {
	h := &tar.Header{
		Name: name, Mode: int64(e.mode.Perm()) | special(e.mode), Uid: e.uid, Gid: e.gid, ModTime: epoch,
	}
	var content io.Reader
	switch {
	case e.mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case e.mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
	case e.source == "":
		h.Typeflag, h.Size, content = tar.TypeReg, int64(len(e.content)), bytes.NewReader(e.content)
	default:
		f, err := os.Open(e.source)
		if err != nil {
			return err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		h.Typeflag, h.Size, content = tar.TypeReg, st.Size(), f
	}
	if err := w.WriteHeader(h); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if content == nil {
		return nil
	}
	if _, err := io.Copy(w, content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// special are the bits of a mode above the permissions, as in tar and stat(2).
func special(m fs.FileMode) (bits int64) {
	for mode, bit := range map[fs.FileMode]int64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if m&mode != 0 {
			bits |= bit
		}
	}
	return bits
}
