package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/outside/image"
)

type imageCommand struct {
	Load imageLoad `cmd:"" help:"Put an image into Docker, Podman or a node's containerd, without a registry."`
}

type imageLoad struct {
	File      string     `arg:"" type:"path" help:"An archive of docker save."`
	Into      engineName `required:"" placeholder:"ENGINE" help:"docker, podman or containerd."`
	Address   string     `placeholder:"SOCKET" help:"The engine's socket, where it is not the usual one; not of podman, which has none."`
	Namespace string     `placeholder:"NAME" help:"Namespace of containerd. Without it ${kube_namespace}, where a kubelet looks."`
}

func (imageLoad) Help() string {
	return `Pods that use the image say imagePullPolicy: Never.

Examples:

  tare image load image.tar --into docker
  tare image load image.tar --into containerd --address /run/k3s/containerd/containerd.sock`
}

func (imageLoad) exits() []codeMeaning {
	return exitCodes("loaded", exitError, exitUsage, exitUnsupported, exitInterrupted, exitTerminated)
}

// engineName is the value of --into.
type engineName string

func (n *engineName) UnmarshalText(b []byte) error {
	return oneOf((*string)(n), string(b), n.words()...)
}

func (engineName) words() []string { return []string{"docker", "podman", "containerd"} }

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
		return hint.New(fmt.Errorf("%w: %w", facts.ErrUnsupported, err), hint.Of(err))
	case err != nil:
		return hint.New(err, "is "+into.Name()+" running, and may this user speak with it? --address names another socket")
	}
	c.say("image.loaded", "name", info.Tag, "id", info.ID, "engine", into.Name())
	return nil
}

// engine is the engine that gets the image.
func (l imageLoad) engine() (engine.Images, error) {
	switch l.Into {
	case "docker":
		address := l.Address
		if filepath.IsAbs(address) {
			address = "unix://" + address
		}
		return engine.NewDocker(address)
	case "podman":
		path, err := findProgram("podman", "podman")
		return engine.NewPodman(path), err
	}
	path, err := findProgram("ctr", "containerd")
	return engine.Containerd{Path: path, Address: l.Address, Namespace: cmp.Or(l.Namespace, engine.KubeNamespace)}, err
}

// findProgram finds the program of an engine in PATH; pkg is Debian's package.
func findProgram(name, pkg string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", hint.New(fmt.Errorf("%w: %w", facts.ErrUnsupported, err), "apt install "+pkg)
	}
	return path, nil
}
