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

// Nothing is written outside of the result directory, and nothing but files.
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

// A client that was silent is lost, and is heard again on the connection that never
// ended: the record goes there.
func TestHeardAgain(t *testing.T) {
	r, w := io.Pipe()
	c := listenFor(bufio.NewReader(r), time.Millisecond)
	<-c.gone
	select {
	case <-c.back:
		t.Error("heard again, and said nothing")
	default:
	}
	for range 3 { // nobody waits for what is said later
		if _, err := w.Write([]byte{beat}); err != nil {
			t.Fatal(err)
		}
	}
	<-c.back
	h := &host{dir: t.TempDir()}
	if err := os.MkdirAll(h.resultDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.resultDir(), "record.jsonl"), []byte("line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if kept, err := h.await(c, &b); !kept || !errors.Is(err, errSilent) {
		t.Errorf("kept: %v %v", kept, err)
	}
	if n, err := readRecord(&b, t.TempDir()); n != 1 || err != nil {
		t.Errorf("%d files, %v", n, err)
	}
	c = listenFor(bufio.NewReader(strings.NewReader("")), time.Hour)
	<-c.gone
	select {
	case <-c.back:
		t.Error("the connection has ended")
	default:
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

// Who collects the record brings a token that is good, and goes when the node is
// restored.
func TestCollect(t *testing.T) {
	h := &host{dir: filepath.Join(t.TempDir(), "run")}
	result := filepath.Join(h.dir, "result")
	if err := os.MkdirAll(result, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{h.in(tokenFile): "of a pod that is gone", filepath.Join(result, "record.jsonl"): "line\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token := make(chan string, 1)
	go func() {
		if kept, err := h.await(&client{}, io.Discard); !kept || err != nil {
			t.Errorf("kept: %v %v", kept, err)
		}
		b, _ := os.ReadFile(h.in(tokenFile))
		token <- string(b)
		os.RemoveAll(h.dir)
	}()
	var b bytes.Buffer
	if err := collect(&b, h.dir, []byte("fresh")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(h.dir); err == nil {
		t.Error("the node was not restored yet")
	}
	if got := <-token; got != "fresh" {
		t.Errorf("the token is %q", got)
	}
	if n, err := readRecord(&b, t.TempDir()); n != 1 || err != nil {
		t.Errorf("%d files, %v", n, err)
	}
	if err := collect(&b, h.dir, nil); err == nil {
		t.Error("a record that is gone was collected")
	}
}
