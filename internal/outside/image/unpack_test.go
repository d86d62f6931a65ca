package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestUnpackStaysBelow: an archive with links and names that lead out of the directory writes
// nothing outside.
func TestUnpackStaysBelow(t *testing.T) {
	outside := t.TempDir()
	for name, headers := range map[string][]tar.Header{
		"link":   {{Typeflag: tar.TypeSymlink, Name: "out", Linkname: outside}, {Typeflag: tar.TypeReg, Name: "out/file"}},
		"parent": {{Typeflag: tar.TypeReg, Name: "../file"}},
		"hard":   {{Typeflag: tar.TypeLink, Name: "file", Linkname: "../../../../../../etc/passwd"}},
	} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range headers {
			err = errors.Join(err, unpackOne(root, &h, strings.NewReader("")))
		}
		root.Close()
		if left, _ := os.ReadDir(outside); err == nil || len(left) > 0 {
			t.Errorf("%s: %v, left outside: %v", name, err, left)
		}
	}
}

// TestUnpackBounds: an archive that would fill the disk with bytes or inodes is refused first.
func TestUnpackBounds(t *testing.T) {
	headers := func(each func(w *tar.Writer) error) *bytes.Buffer {
		var b bytes.Buffer
		if err := each(tar.NewWriter(&b)); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	for says, archive := range map[string]*bytes.Buffer{
		"bytes": headers(func(w *tar.Writer) error {
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "bomb", Size: 17 << 30})
		}),
		"files and directories": headers(func(w *tar.Writer) (err error) {
			for range 100_001 { // FIFOs are counted although they are not unpacked
				err = errors.Join(err, w.WriteHeader(&tar.Header{Typeflag: tar.TypeFifo, Name: "fifo"}))
			}
			return err
		}),
		"a file called": headers(func(w *tar.Writer) error {
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.Repeat("d/", 3000)})
		}),
	} {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = unpackAll(t.Context(), root, archive)
		root.Close()
		if left, _ := os.ReadDir(dir); err == nil || !strings.Contains(err.Error(), says) || len(left) > 0 {
			t.Errorf("%s: %v, left %v", says, err, left)
		}
	}
}
