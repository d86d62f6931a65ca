package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/linux/namespace"
)

// Exe is tare's binary in an arm with a root file system of its own.
const Exe = "/.tare/tare"

// Volume is the data directory in an arm with a root file system of its own.
const Volume = "/.tare/data"

// RootDirs are the directories on the host of such a root.
type RootDirs struct {
	Upper, Work, Point string
	// HostVolume is Volume as the host sees it: in the upper directory, as if the container had
	// written it, or a directory that is bound there.
	HostVolume string
	bind       bool // HostVolume is bound
}

// MakeRootDirs makes the directories in dir, the arm's directory, and they are removed with it.
// data is a directory on the host that is bound as the data directory; empty: the data directory
// is in the upper directory.
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
		if err := os.Chmod(d, 0o755); err != nil { // despite the umask: servers in the arm are not root
			return r, fmt.Errorf("make the directories of the root file system: %w", err)
		}
	}
	return r, nil
}

// DataDir is the data directory on the host: in the volume of the arm, or in the arm's directory.
func (g *Sandbox) DataDir() string {
	if g.Spec.Volume != "" {
		return filepath.Join(g.Spec.Volume, "data")
	}
	return filepath.Join(g.Dir, "data")
}

// OpenWay lets all users of the host pass through the run's directories above a data directory,
// for servers and loads that are not root. The data directory itself stays closed. OpenWay is for
// arms whose processes see the host's files; files that a container's root writes, setuid
// programs for example, must stay out of reach.
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

// BoundDir is DataDir if it is bound into the arm's root file system; empty: the data is in that
// file system.
func (g *Sandbox) BoundDir() string {
	if g.Spec.Bind || g.Spec.Volume != "" {
		return g.DataDir()
	}
	return ""
}

// Overlay is the overlay over the host's root. The overlay of an ordinary user is over /usr, which
// has bin, lib and sbin: in a user namespace the kernel refuses an overlay over a directory with
// mounts below it (clone_private_mount, since Linux 5.14).
func (r RootDirs) Overlay(user bool) namespace.Overlay {
	o := namespace.Overlay{Lower: "/", Upper: r.Upper, Work: r.Work, User: user}
	if user {
		o.Lower = "/usr"
	}
	return o
}

// LinkExe makes Exe, which gives processes in the arm the name tare.
func (r RootDirs) LinkExe() error { return LinkExe(r.Upper) }

// LinkUsr makes paths below /usr valid in a root that is an overlay over /usr: /usr/bin/NAME is
// /bin/NAME there.
func (r RootDirs) LinkUsr() error {
	if err := os.Symlink(".", filepath.Join(r.Upper, "usr")); err != nil {
		return fmt.Errorf("link /usr: %w", err)
	}
	return nil
}

// LinkExe makes Exe below a directory that becomes a root.
func LinkExe(root string) error {
	if err := os.Symlink(selfPath, filepath.Join(root, Exe)); err != nil {
		return fmt.Errorf("link this binary: %w", err)
	}
	return nil
}

// Binds is the bind mount of the data directory, if it is bound.
func (r RootDirs) Binds() []specs.Mount {
	if !r.bind {
		return nil
	}
	return []specs.Mount{{Destination: Volume, Source: r.HostVolume, Options: []string{"rbind", "rprivate"}}}
}

// Request is the root of a child.
func (r RootDirs) Request(mounts []specs.Mount, user bool) *Root {
	return &Root{
		Overlay: r.Overlay(user), Point: r.Point, User: user,
		Mounts: append(mounts, r.Binds()...),
		Masked: DockerMasked(), ReadOnly: DockerReadOnly(),
	}
}
