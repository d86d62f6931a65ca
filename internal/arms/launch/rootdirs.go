package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/linux/namespace"
)

// Exe is where an arm with a root file system of its own has this binary.
const Exe = "/.tare/tare"

// Volume is the data directory in an arm with a root file system of its own.
const Volume = "/.tare/data"

// RootDirs are the directories on the host behind such a root.
type RootDirs struct {
	Upper, Work, Point string
	// HostVolume is Volume as the host sees it: in the upper directory, as if
	// it had been written in the container, or a directory to be bound there.
	HostVolume string
	bind       bool
}

// MakeRootDirs makes them in a directory of the arm's own, which is their way
// back. data is a directory on the host to be bound as the data directory; empty:
// it is in the upper directory.
func MakeRootDirs(dir, data string) (RootDirs, error) {
	r := RootDirs{
		Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work"), Point: filepath.Join(dir, "root"),
		bind: data != "",
	}
	r.HostVolume = filepath.Join(r.Upper, Volume)
	if r.bind {
		r.HostVolume = data
	}
	for _, d := range []string{r.Work, r.Point, filepath.Dir(filepath.Join(r.Upper, Volume))} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return r, fmt.Errorf("make the directories of the root file system: %w", err)
		}
	}
	for _, d := range []string{r.Upper, filepath.Dir(filepath.Join(r.Upper, Volume))} {
		if err := os.Chmod(d, 0o755); err != nil { // what the umask took: servers there are not root
			return r, fmt.Errorf("make the directories of the root file system: %w", err)
		}
	}
	return r, nil
}

// DataDir is the data directory of an arm that has it on the host: in the volume
// that was opened for it, or in its own directory.
func (g *Sandbox) DataDir() string {
	if g.Spec.Volume != "" {
		return filepath.Join(g.Spec.Volume, "data")
	}
	return filepath.Join(g.Dir, "data")
}

// OpenWay lets every account of the host pass the run's own directories above a data
// directory, for servers and loads that are not root's. The data directory itself is
// closed. It is for arms whose processes see the host's files: what root of a container
// leaves in its files is out of everybody's reach.
func (g *Sandbox) OpenWay(data string) error {
	for dir := filepath.Dir(data); dir != "/"; dir = filepath.Dir(dir) {
		if !strings.HasPrefix(filepath.Base(dir), "tare-"+g.Spec.Run) {
			continue
		}
		if err := os.Chmod(dir, 0o711); err != nil {
			return fmt.Errorf("let accounts pass to the data: %w", err)
		}
	}
	return nil
}

// BoundDir is DataDir where it is to be bound into a root file system of the
// arm's own, and empty where the data is in that.
func (g *Sandbox) BoundDir() string {
	if g.Spec.Bind || g.Spec.Volume != "" {
		return g.DataDir()
	}
	return ""
}

// Overlay is the overlay over the host's root. An ordinary user's is over /usr
// alone: in a user namespace the kernel does not let go of what is mounted
// below / (clone_private_mount, 5.14), and /usr has bin, lib and sbin.
func (r RootDirs) Overlay(user bool) namespace.Overlay {
	o := namespace.Overlay{Lower: "/", Upper: r.Upper, Work: r.Work, User: user}
	if user {
		o.Lower = "/usr"
	}
	return o
}

// LinkExe gives processes in the arm the name tare.
func (r RootDirs) LinkExe() error { return LinkExe(r.Upper) }

// LinkUsr gives what is in /usr its names on the host, where the root is an overlay
// over /usr alone: a server that was found as /usr/bin/NAME is there too.
func (r RootDirs) LinkUsr() error {
	if err := os.Symlink(".", filepath.Join(r.Upper, "usr")); err != nil {
		return fmt.Errorf("link /usr: %w", err)
	}
	return nil
}

// LinkExe does so below a directory that is going to be a root.
func LinkExe(root string) error {
	if err := os.Symlink(selfPath, filepath.Join(root, Exe)); err != nil {
		return fmt.Errorf("link this binary: %w", err)
	}
	return nil
}

// Binds are the mounts of the volume.
func (r RootDirs) Binds() []specs.Mount {
	if !r.bind {
		return nil
	}
	return []specs.Mount{{Destination: Volume, Source: r.HostVolume, Options: []string{"rbind", "rprivate"}}}
}

// Request is the root for a child.
func (r RootDirs) Request(mounts []specs.Mount, user bool) *Root {
	return &Root{
		Overlay: r.Overlay(user), Point: r.Point, User: user,
		Mounts: append(mounts, r.Binds()...),
		Masked: DockerMasked(), ReadOnly: DockerReadOnly(),
	}
}

// OwnPath is the path of this binary, for a container to have it bound.
func OwnPath() (string, error) {
	path, err := os.Executable()
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fmt.Errorf("find this binary: %w", err)
	}
	return path, nil
}
