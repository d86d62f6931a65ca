package nodes

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzUnpack: unpacking ends whatever a node sends, in whatever pieces, and however the stream
// ends. It makes only plain files and directories inside of the result directory. A result that
// was unpacked without error can be sent again and is the same.
func FuzzUnpack(f *testing.F) {
	addArchives(f)
	f.Fuzz(func(t *testing.T, said []byte, piece uint16, breaks bool) {
		top := t.TempDir()
		dir := filepath.Join(top, "a", "node")
		broken := errors.New("the connection broke")
		refused := false
		err := unpack(dir, func(to io.Writer) error {
			for rest := said; len(rest) > 0; {
				n := min(len(rest), int(piece)+1)
				if _, err := to.Write(rest[:n]); err != nil {
					refused = true
					return err
				}
				rest = rest[n:]
			}
			if breaks {
				return broken
			}
			return nil
		})
		if breaks && !refused && !errors.Is(err, broken) || refused && err == nil {
			t.Errorf("broken: %v, refused: %v, and the error is %v", breaks, refused, err)
		}
		got, named := treeOf(t, top), true
		for name := range got {
			named = named && utf8.ValidString(name) // else tare writes no such name
			if name != "a" && name != "a/node" && !strings.HasPrefix(name, "a/node/") {
				t.Errorf("%s is outside", name)
			}
		}
		if err != nil || !named {
			return
		}
		again := t.TempDir()
		if err := unpack(filepath.Join(again, "a", "node"), func(to io.Writer) error { return writeRecord(to, dir) }); err != nil {
			t.Fatalf("sent on: %v", err)
		}
		if more := treeOf(t, again); !reflect.DeepEqual(got, more) {
			t.Errorf("%q was taken, and is %q when it is sent on", got, more)
		}
	})
}

// addArchives adds whole results, damaged ones, and entries that no result has.
func addArchives(f *testing.F) {
	f.Helper()
	result := f.TempDir()
	for name, text := range map[string]string{"record.jsonl": "line\n", "raw/deep/log": "x", "empty": ""} {
		path := filepath.Join(result, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			f.Fatal(err)
		}
	}
	var whole bytes.Buffer
	if err := writeRecord(&whole, result); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes(), uint16(0), false)
	f.Add(whole.Bytes(), uint16(7), true)
	f.Add(whole.Bytes()[:whole.Len()/2], uint16(512), false)
	f.Add(append(whole.Bytes()[:whole.Len():whole.Len()], strings.Repeat("more", 1000)...), uint16(100), false)
	for _, h := range []tar.Header{
		{Name: "../out", Typeflag: tar.TypeReg}, {Name: ".", Typeflag: tar.TypeReg}, {Name: "setuid", Typeflag: tar.TypeReg, Mode: 0o6777},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/"}, {Name: "hard", Typeflag: tar.TypeLink, Linkname: "../x"},
		{Name: "fifo", Typeflag: tar.TypeFifo}, {Name: "device", Typeflag: tar.TypeChar},
	} {
		var b bytes.Buffer
		if w := tar.NewWriter(&b); errors.Join(w.WriteHeader(&h), w.Close()) != nil {
			f.Fatal(h.Name)
		}
		f.Add(b.Bytes(), uint16(0), false)
	}
}

// treeOf reads the files and directories below a directory. It fails the test if one is neither
// or is not readable.
func treeOf(t *testing.T, top string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if m := info.Mode(); !m.IsDir() && m.Type() != 0 || m&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 || m&0o600 != 0o600 {
			t.Errorf("%s has mode %v", path, m)
		}
		text := []byte("a directory")
		if d.Type().IsRegular() {
			text, err = os.ReadFile(path)
		}
		name, relErr := filepath.Rel(top, path)
		all[name] = string(text)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
