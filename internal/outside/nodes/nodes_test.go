package nodes

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRecordTravels(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "a", "node")
	files := map[string]string{"record.jsonl": "line\n", "raw/deep/log": "x", "by-hand/pod.yaml": "kind: Pod\n"}
	for name, text := range files {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := writeRecord(&b, from); err != nil {
		t.Fatal(err)
	}
	cut := bytes.Clone(b.Bytes()[:b.Len()/2])
	if n, err := readRecord(&b, to); err != nil || n != len(files) {
		t.Fatalf("%d files, %v", n, err)
	}
	for name, text := range files {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != text {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if _, err := readRecord(bytes.NewReader(cut), t.TempDir()); err == nil {
		t.Error("half a record was taken")
	}
	b.Reset()
	if err := writeRecord(&b, "/nonexistent"); err != nil {
		t.Fatal(err)
	}
	if n, err := readRecord(&b, t.TempDir()); err != nil || n != 0 {
		t.Errorf("no record: %d files, %v", n, err)
	}
}

// An archive makes only files, and none outside of the result directory.
func TestRecordStaysInside(t *testing.T) {
	for _, h := range []tar.Header{
		{Name: "../out", Typeflag: tar.TypeReg, Size: 1}, {Name: "/tmp/out", Typeflag: tar.TypeReg, Size: 1},
		{Name: "a/../../out", Typeflag: tar.TypeReg, Size: 1},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := readRecord(&b, t.TempDir()); err == nil {
			t.Errorf("%s was unpacked", h.Name)
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc", Mode: 0o777}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := readRecord(&b, dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "link")); err == nil {
		t.Error("a link was made")
	}
}

// The end of the input is the end of the client; its interrupts come before.
func TestListen(t *testing.T) {
	c := listen(bufio.NewReader(strings.NewReader("..i.i")))
	<-c.gone
	if len(c.interrupts) != 2 || !c.lost() {
		t.Errorf("%d interrupts, lost: %v", len(c.interrupts), c.lost())
	}
}

// A silent client is lost, and stays lost when it is heard again. Nothing waits for what it
// sends then.
func TestListenToSilence(t *testing.T) {
	r, w := io.Pipe()
	c := listenFor(bufio.NewReader(r), time.Millisecond)
	<-c.gone
	for range 3 {
		if _, err := w.Write([]byte{interrupt}); err != nil {
			t.Fatal(err)
		}
	}
	if !c.lost() || len(c.interrupts) > 0 {
		t.Errorf("lost: %v, %d interrupts", c.lost(), len(c.interrupts))
	}
}

// A result is not sent to a client that is lost.
func TestSendToNobody(t *testing.T) {
	c := listenFor(bufio.NewReader(strings.NewReader("")), time.Hour)
	<-c.gone
	if err := (&host{dir: "/nonexistent"}).send(c); !errors.Is(err, errLost) {
		t.Error(err)
	}
}

// awaitGone waits until a run's directory is removed, and does not wait for a missing one.
func TestAwaitGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	awaitGone(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	removed := make(chan error, 1)
	go func() { removed <- os.Remove(dir) }()
	awaitGone(dir)
	if err := <-removed; err != nil {
		t.Error(err)
	}
}

func TestInterruptible(t *testing.T) {
	interrupts := make(chan struct{}, 1)
	ctx, stop := interruptible(t.Context(), interrupts)
	if ctx.Err() != nil || stop() {
		t.Error("interrupted by nobody")
	}
	ctx, stop = interruptible(t.Context(), interrupts)
	interrupts <- struct{}{}
	<-ctx.Done()
	if !stop() {
		t.Error("an interrupt went by")
	}
}
