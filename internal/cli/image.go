package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/image"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/quantity"
)

type imageCommand struct {
	Build imageBuild `cmd:"" help:"Pack tare and programs of this host, or Debian packages, into an image, without a registry."`
	Load  imageLoad  `cmd:"" help:"Put an image into Docker, Podman or a node's containerd."`
}

type imageBuild struct {
	Output   string   `short:"o" default:"tare-image.tar" placeholder:"FILE" help:"The archive to write, tare-image.tar by default."`
	Tag      string   `default:"${image_tag}" placeholder:"NAME:TAG" help:"The image's name, ${image_tag} by default."`
	FromHost []string `placeholder:"NAME|PATH" help:"Programs of this host with the files of their Debian packages and the libraries that they load; by path: files and directories."`
	Packages []string `placeholder:"NAME" help:"Debian packages, with all that they depend on, instead."`
	Suite    string   `placeholder:"bookworm" help:"Release of the packages; without it this host's."`
	Mirror   string   `placeholder:"URL" help:"Where the packages come from; without it this host's mirror."`
}

func (imageBuild) Help() string {
	return `The image has one layer: tare's own binary at /usr/local/bin/tare and what is named. The same files make the same image, to the digest. It runs as an ordinary user without any right, which PodSecurity's "restricted" admits.

Examples:

  tare image build --from-host mariadbd,mariadb-install-db,sysbench
  tare image build --packages mariadb-server-core,sysbench -o mysql.tar
  tare image load mysql.tar --into containerd --address /run/containerd/containerd.sock

` + exitCodes("written", exitError, exitUsage, exitInterrupted, exitTerminated)
}

func (b imageBuild) Run(c *console) error {
	ctx, stop := untilSignal()
	defer stop()
	out, err := filepath.Abs(b.Output)
	if err != nil {
		return err
	}
	if err := archive(out); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	var info image.Info
	said := &relayed{to: c.stderr}
	defer said.flush()
	err = besides(out, func(work string) error {
		info, err = image.Build(ctx, image.Options{
			Out: out, Tag: b.Tag, Self: self, Work: work, Programs: b.FromHost, Packages: b.Packages,
			Suite: b.Suite, Mirror: b.Mirror, Log: said,
		})
		return err
	})
	switch err := endedBy(ctx, err); {
	case err == nil:
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, image.ErrName):
		return &usageError{err, "tare image build --help"}
	default:
		return err
	}
	c.say("%s %s, %s", info.Tag, info.ID, quantity.Bytes(float64(info.Bytes)))
	c.note("%s %s", c.paint(c.stderr, dim, "written to"), b.Output)
	return nil
}

// archive refuses a file that cannot be written.
func archive(out string) error {
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return &usageError{fmt.Errorf("%s is a directory", out), "name a file: -o tare-image.tar"}
	}
	return writable("image "+out, filepath.Dir(out), "-o")
}

// besides has something made in a directory beside a file, which is removed
// then, or by tare cleanup.
func besides(file string, build func(dir string) error) (err error) {
	if err := journal.Placed(); err != nil {
		return err
	}
	j, err := journal.Open(journal.StateDir(), newID())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	dir := filepath.Join(filepath.Dir(file), journal.Prefix+j.Run())
	token, err := j.Add(journal.Directory(dir))
	if err != nil {
		return err
	}
	if err = os.Mkdir(dir, 0o700); err == nil {
		err = build(dir)
	}
	removed := journal.RemoveDirectory(dir)
	if removed == nil {
		removed = j.Done(token)
	}
	return errors.Join(err, removed)
}

type imageLoad struct {
	File      string     `arg:"" type:"path" help:"An archive of tare image build, or of docker save."`
	Into      engineName `required:"" placeholder:"ENGINE" help:"docker, podman or containerd."`
	Address   string     `placeholder:"SOCKET" help:"The engine's socket, where it is not the usual one; not of podman, which has none."`
	Namespace string     `placeholder:"NAME" help:"Namespace of containerd. Without it ${kube_namespace}, where a kubelet looks."`
}

func (imageLoad) Help() string {
	return `Pods that use the image say imagePullPolicy: Never.

Examples:

  tare image load tare-image.tar --into docker
  tare image load tare-image.tar --into containerd --address /run/k3s/containerd/containerd.sock

` + exitCodes("loaded", exitError, exitUsage, exitUnsupported, exitInterrupted, exitTerminated)
}

// engineName is the value of --into.
type engineName string

func (n *engineName) UnmarshalText(b []byte) error {
	return oneOf((*string)(n), string(b), "docker", "podman", "containerd")
}

func (l imageLoad) Run(c *console) error {
	ctx, stop := untilSignal()
	defer stop()
	info, err := image.Open(l.File)
	if err != nil {
		return &usageError{err, ""}
	}
	into, err := l.engine()
	if err != nil {
		return err
	}
	err = info.Load(ctx, into)
	switch {
	case ctx.Err() != nil:
		return endedBy(ctx, err)
	case errors.Is(err, image.ErrForeign):
		return hint.New(fmt.Errorf("%w: %w", environment.ErrUnsupported, err), hint.Of(err))
	case err != nil:
		return hint.New(err, "is "+into.Name()+" running, and may this user speak with it? --address names another socket")
	}
	c.say("%s %s is in %s", info.Tag, info.ID, into.Name())
	return nil
}

// engine is where to load it into.
func (l imageLoad) engine() (engine.Images, error) {
	switch l.Into {
	case "docker":
		address := l.Address
		if filepath.IsAbs(address) {
			address = "unix://" + address
		}
		return engine.NewDocker(address)
	case "podman":
		path, err := program("podman", "podman")
		return engine.NewPodman(path), err
	}
	path, err := program("ctr", "containerd")
	return engine.Containerd{Path: path, Address: l.Address, Namespace: cmp.Or(l.Namespace, engine.KubeNamespace)}, err
}

// program finds an engine's program.
func program(name, pkg string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", hint.New(fmt.Errorf("%w: %w", environment.ErrUnsupported, err), "apt install "+pkg)
	}
	return path, nil
}
