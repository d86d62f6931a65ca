package dirtar

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// What another host sends does not fill this one.
func TestBounds(t *testing.T) {
	var many bytes.Buffer
	w := tar.NewWriter(&many)
	for range mostEntries + 1 {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "d/"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for own, says := range map[bool]string{false: "more than 100000 files", true: ""} {
		_, err := Read(bytes.NewReader(many.Bytes()), t.TempDir(), own)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("own %v: %v", own, err)
		}
	}
	read, err := io.Copy(io.Discard, &bounded{strings.NewReader("0123456789"), 5})
	if err == nil || !strings.Contains(err.Error(), "more than") || read > 10 {
		t.Errorf("%d bytes of 5: %v", read, err)
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
