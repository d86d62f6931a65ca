package dirtar

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An archive of another host cannot fill this host's disk.
func TestBounds(t *testing.T) {
	small := bounds{bytes: 64 << 10, entries: 2}
	for name, c := range map[string]struct {
		archive []byte
		says    string
	}{
		"as much as may be":  {archived(t, "a", strings.Repeat("x", 30<<10), "b", ""), ""},
		"many files":         {archived(t, "a", "", "b", "", "c", ""), "more than 2 files"},
		"many directories":   {archived(t, "a/b/c", ""), "more than 2 files and directories"},
		"a long archive":     {archived(t, "a", strings.Repeat("x", 65<<10)), "more than 65536 bytes"},
		"a file with a hole": {withHole(t, 1<<20), "more than 65536 bytes"},
	} {
		for _, own := range []bool{false, true} {
			dir := t.TempDir()
			_, err := small.read(bytes.NewReader(c.archive), dir, own)
			if refused := err != nil && strings.Contains(err.Error(), c.says); own && err != nil || !own && refused != (c.says != "") {
				t.Errorf("%s, own %v: %v", name, own, err)
			}
			if size, made := sizeOf(t, dir); !own && (size > small.bytes || made > small.entries) {
				t.Errorf("%s: %d bytes in %d files and directories were written", name, size, made)
			}
		}
	}
}

// archived is an archive of files, each a name and a text.
func archived(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withHole is an archive of a sparse file that is one hole, as GNU tar writes it: archive/tar
// does not write such headers.
func withHole(t testing.TB, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	noExtents := "0\n" + strings.Repeat("\x00", 510)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "hole", Size: int64(len(noExtents)), Format: tar.FormatPAX, PAXRecords: map[string]string{
		"GNU-sparse.major": "1", "GNU-sparse.minor": "0", "GNU-sparse.realsize": strconv.FormatInt(size, 10),
	}})
	if err == nil {
		_, err = io.WriteString(w, noExtents)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("GNU-sparse"), []byte("GNU.sparse"))
}

// sizeOf counts the bytes, and the files and directories, below a directory.
func sizeOf(t testing.TB, dir string) (size int64, made int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if path != dir {
			made++
		}
		if err == nil && d.Type().IsRegular() {
			info, infoErr := d.Info()
			size, err = size+info.Size(), infoErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size, made
}

// No archive makes a file outside of the directory, and none of others makes a link or
// exceeds the bounds.
func FuzzRead(f *testing.F) {
	f.Add(archived(f, "a", "text", "d/b", "more"))
	f.Add(withHole(f, 1<<16))
	f.Add(archived(f, "../x", "y"))
	f.Add(archived(f, "a/b/c/d/e/f/g/h/i", "deep"))
	f.Add(archived(f, strings.Repeat("d/", 3000)+"i", "deeper than the kernel takes"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		top := t.TempDir()
		dir := filepath.Join(top, "d")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		small := bounds{bytes: 1 << 16, entries: 8}
		files, err := small.read(bytes.NewReader(archive), dir, false)
		if entries, _ := os.ReadDir(top); len(entries) != 1 {
			t.Fatalf("outside: %v", entries)
		}
		found := 0
		walk := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if !d.IsDir() && !d.Type().IsRegular() {
				t.Errorf("%s is a %v", path, d.Type())
			}
			if d.Type().IsRegular() {
				found++
			}
			return err
		})
		if size, made := sizeOf(t, dir); walk != nil || size > small.bytes || made > small.entries {
			t.Errorf("%d bytes in %d files and directories, %v", size, made, walk)
		}
		if err == nil && found != files {
			t.Errorf("%d files, and %d are there", files, found)
		}
	})
}

// A name that is too long for the kernel and a file in the place of the directory are refused,
// and make nothing.
func TestNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("d/", 1<<11) + "a", ".", "a/.."} {
		dir := filepath.Join(t.TempDir(), "d")
		_, err := Read(bytes.NewReader(archived(t, name, "text")), dir, false)
		if _, there := os.Lstat(dir); err == nil || !strings.Contains(err.Error(), "a file called") || there == nil {
			t.Errorf("%.10q: %v", name, err)
		}
	}
}

func TestOutside(t *testing.T) {
	for name, h := range map[string]tar.Header{
		"a file above": {Name: "../x", Typeflag: tar.TypeReg}, "an absolute one": {Name: "/x", Typeflag: tar.TypeReg},
		"a link that leads out": {Name: "l", Linkname: "../..", Typeflag: tar.TypeSymlink},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Close()
		dir := t.TempDir()
		if _, err := Read(&b, dir, true); err == nil {
			left, _ := os.ReadDir(dir)
			t.Errorf("%s was unpacked: %v", name, left)
		}
	}
}
