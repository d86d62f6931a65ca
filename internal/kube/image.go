package kube

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/tarelab/tare/internal/hint"
)

// ImageOf is the name of the image of a run: this very binary, and nothing that
// it could need. It is in no registry.
func ImageOf(run string) string { return "localhost/tare:" + run }

// Containerd is the containerd of a node, which is this host.
type Containerd struct {
	Address string // of its socket
	// Run starts a command and waits; nil: as it is.
	Run func(*exec.Cmd) error
}

// defaultAddress is where containerd listens unless it was told otherwise.
const defaultAddress = "/run/containerd/containerd.sock"

// NewContainerd is the one that $CONTAINERD_ADDRESS names, or the usual one.
func NewContainerd() Containerd {
	return Containerd{Address: cmp.Or(os.Getenv("CONTAINERD_ADDRESS"), defaultAddress)}
}

// Can says whether images can be given to it.
func (c Containerd) Can() error {
	if _, err := exec.LookPath("ctr"); err != nil {
		return hint.New(fmt.Errorf("give the node tare's image: %w", err), "install ctr, which comes with containerd (apt install containerd)")
	}
	if _, err := os.Stat(c.Address); err != nil {
		return hint.New(fmt.Errorf("the node's containerd is not there: %w", err), "set CONTAINERD_ADDRESS to the socket that the kubelet uses")
	}
	return nil
}

func (c Containerd) ctr(in io.Reader, args ...string) error {
	var said bytes.Buffer
	return c.call(in, &said, &said, args...)
}

func (c Containerd) say(out *bytes.Buffer, args ...string) error {
	var said bytes.Buffer
	return c.call(nil, out, &said, args...)
}

func (c Containerd) call(in io.Reader, out, said *bytes.Buffer, args ...string) error {
	cmd := exec.Command("ctr", append([]string{"--address", c.Address, "--namespace", "k8s.io"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	run := c.Run
	if run == nil {
		run = (*exec.Cmd).Run
	}
	if err := run(cmd); err != nil {
		return fmt.Errorf("ctr %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(said.String()))
	}
	return nil
}

// Load gives it the image of a run: the binary at a path of this host, and
// links at the top.
func (c Containerd) Load(run, self string, links map[string]string) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(writeImage(w, ImageOf(run), self, links)) }()
	defer r.Close()
	return c.ctr(r, "images", "import", "-")
}

// Remove takes an image away; one that is not there is fine.
func (c Containerd) Remove(image string) error {
	err := c.ctr(nil, "images", "rm", "--sync", image)
	if err != nil && strings.Contains(err.Error(), "not found") {
		return nil
	}
	return err
}

// ErrForeign means that an image is for another kind of machine.
var ErrForeign = errors.New("the image is for another architecture")

// Fits refuses an image that the node has for another architecture than its own:
// tare's own binary would start in it, and the programs of the load would not.
// One that it does not have may yet come from a registry.
func (c Containerd) Fits(image string) error {
	var said bytes.Buffer
	if err := c.say(&said, "images", "list", "name=="+image); err != nil {
		return err
	}
	platforms := platformsOf(said.String(), image)
	own := "linux/" + runtime.GOARCH
	for _, p := range platforms {
		if p == own || strings.HasPrefix(p, own+"/") {
			return nil
		}
	}
	if len(platforms) == 0 {
		return nil
	}
	return hint.New(fmt.Errorf("%w: %s is for %s, and the node is %s", ErrForeign, image, strings.Join(platforms, ", "), own),
		"name an image that is for it, or build one here: tare image build")
}

// platformsOf reads what ctr images list says of an image: one of the
// words behind it is the list of its platforms.
func platformsOf(list, image string) []string {
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) < 4 || f[0] != image {
			continue
		}
		for _, word := range f[2:] {
			if strings.HasPrefix(word, "linux/") || strings.HasPrefix(word, "windows/") {
				return strings.Split(word, ",")
			}
		}
	}
	return nil
}

// writeImage writes an image as docker save does. The binary is read twice: its
// digest stands before it.
func writeImage(w io.Writer, name, self string, links map[string]string) error {
	sum := sha256.New()
	size := &counted{w: sum}
	if err := writeLayer(size, self, links); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Entrypoint": []string{Exe}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sum.Sum(nil))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	file := func(name string, size int64) error {
		return out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: size})
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{"config.json", config}, {"manifest.json", manifest}} {
		if err := file(f.name, int64(len(f.text))); err != nil {
			return err
		}
		if _, err := out.Write(f.text); err != nil {
			return err
		}
	}
	if err := file("layer.tar", size.n); err != nil {
		return err
	}
	return errors.Join(writeLayer(out, self, links), out.Close())
}

// counted counts what is written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// writeLayer writes the root file system.
func writeLayer(w io.Writer, self string, links map[string]string) error {
	f, err := os.Open(self)
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	out := tar.NewWriter(w)
	dir := func(name string, mode int64) error {
		return out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: mode})
	}
	err = errors.Join(dir(".tare/", 0o755), dir("tmp/", 0o1777), dir("etc/", 0o755), dir("run/", 0o755), dir("var/", 0o755), dir("var/tmp/", 0o1777))
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if err == nil {
			err = out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: links[name], Mode: 0o777})
		}
	}
	if err == nil {
		err = out.WriteHeader(&tar.Header{Name: strings.TrimPrefix(Exe, "/"), Typeflag: tar.TypeReg, Mode: 0o755, Size: st.Size()})
	}
	if err == nil {
		_, err = io.CopyN(out, f, st.Size())
	}
	return errors.Join(err, out.Close())
}
