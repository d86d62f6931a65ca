package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// packed is an archive of these headers; each file holds the same text.
func packed(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = 4
		}
		err := w.WriteHeader(&h)
		if err == nil && h.Typeflag == tar.TypeReg {
			_, err = io.WriteString(w, "text")
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

// No layer makes a file outside of the root, or changes the content, owner or permissions of
// one.
func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, tar.Header{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755}, tar.Header{Typeflag: tar.TypeReg, Name: "etc/x", Mode: 0o4755}))
	f.Add(packed(f, tar.Header{Typeflag: tar.TypeSymlink, Name: "out", Linkname: "../outside"}, tar.Header{Typeflag: tar.TypeReg, Name: "out/file", Mode: 0o777},
		tar.Header{Typeflag: tar.TypeDir, Name: "out", Mode: 0o777}, tar.Header{Typeflag: tar.TypeLink, Name: "hard", Linkname: "out/file"}))
	f.Add(packed(f, tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/"}, tar.Header{Typeflag: tar.TypeLink, Name: "b", Linkname: "a/../../outside/file"}))
	f.Fuzz(func(t *testing.T, archive []byte) {
		top := t.TempDir()
		file, dir := filepath.Join(top, "outside", "file"), filepath.Join(top, "root")
		if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.Mkdir(dir, 0o700), os.WriteFile(file, []byte("theirs"), 0o600)); err != nil {
			t.Fatal(err)
		}
		before := seen(t, top, file, filepath.Dir(file))
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		for r := tar.NewReader(bytes.NewReader(archive)); err == nil; {
			var h *tar.Header
			if h, err = r.Next(); err == nil {
				err = unpackOne(root, h, io.LimitReader(r, 1<<16))
			}
		}
		if after := seen(t, top, file, filepath.Dir(file)); after != before {
			t.Errorf("outside: %+v, was %+v", after, before)
		}
	})
}

// outside describes the files outside of the root, which must not change.
type outside struct {
	text          string
	top           int // entries
	file, dir     uint32
	owner, parent uint32
	links         uint64
}

func seen(t *testing.T, top, file, dir string) outside {
	t.Helper()
	var f, d syscall.Stat_t
	text, err := os.ReadFile(file)
	entries, topErr := os.ReadDir(top)
	if err := errors.Join(err, topErr, syscall.Stat(file, &f), syscall.Stat(dir, &d)); err != nil {
		t.Fatal(err)
	}
	return outside{string(text), len(entries), f.Mode, d.Mode, f.Uid, d.Uid, uint64(f.Nlink)}
}
