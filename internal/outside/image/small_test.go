package image_test

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/tarelab/tare/internal/outside/image"
)

// TestSmall: digest and size are those of the manifest, and the archive has the files that
// were asked for.
func TestSmall(t *testing.T) {
	source := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(source, []byte("a program"), 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	s := image.Small{
		Tag: "localhost/tare-test:small", Dirs: []string{"proc"}, Shared: []string{"tmp"},
		Links: map[string]string{"bin": "usr/bin"}, Program: "/tare", Source: source,
	}
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	img, err := tarball.Image(open, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	files := mutate.Extract(img)
	defer files.Close()
	got := map[string]string{}
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Clean(h.Name)] = h.FileInfo().Mode().String() + h.Linkname + string(content)
	}
	for name, want := range map[string]string{
		"proc": "drwxr-xr-x", "tmp": "dtrwxrwxrwx", "bin": "Lrwxrwxrwxusr/bin", "tare": "-rwxr-xr-xa program",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}
