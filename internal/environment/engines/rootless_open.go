package engines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/record"
)

// prepareRootless is prepare for a user's container: the first process of the user's
// engine makes the mount namespace that all later ones are in, so that everything is
// mounted before. All of it is in the arm's directory and groups, and goes with them.
func (a *arm) prepareRootless(ctx context.Context) (err error) {
	if a.root, err = launch.MakeRootDirs(a.Dir, a.BoundDir()); err != nil {
		return err
	}
	if err := a.FillVolume(ctx, a.root.HostVolume); err != nil {
		return err
	}
	if err := a.mount(); err != nil {
		return err
	}
	c, err := a.container()
	if err != nil {
		return err
	}
	if err := a.furnish(c.Binds); err != nil {
		return err
	}
	home, err := a.makeHome()
	if err != nil {
		return err
	}
	if a.kind == Docker {
		a.engine, err = a.rootlessDocker(ctx, home)
	} else {
		a.engine, err = a.rootlessPodman(home)
	}
	if err != nil {
		return err
	}
	a.Undo(a.engine.Close)
	if a.facts, err = a.engine.Facts(ctx); err != nil {
		return err
	}
	c.RootAt, c.Binds = filepath.Join(launch.Here, filepath.Base(a.root.Point)), nil
	if c.Publish = a.Spec.Port; c.Publish != 0 {
		c.UserNetwork = userNetwork[a.kind]
	}
	return a.create(ctx, c)
}

// userNetwork is the network through which a user's engine publishes a port.
var userNetwork = map[Kind]string{Podman: "slirp4netns", Docker: "bridge"}

const (
	// homeDir is the directory of the user's storage and state, in the arm's.
	homeDir = "home"
	// helpersName is the name of the group of the engine's own processes.
	helpersName = "engine"
)

// home is where a user's engine keeps what it has.
type home struct {
	dir  string // on the host
	as   launch.RunAs
	env  []string
	seen string // dir as the engine sees it
}

// makeHome makes it, and a group of its own for the engine's processes: what they leave
// behind ends with it.
func (a *arm) makeHome() (h home, err error) {
	h = home{dir: filepath.Join(a.Dir, homeDir), seen: filepath.Join(launch.Here, homeDir)}
	for _, dir := range []string{h.dir, filepath.Join(h.dir, "run"), filepath.Join(h.dir, "tmp")} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, a.as.uid, a.as.gid)); err != nil {
			return h, fmt.Errorf("make a home for %s: %w", a.kind.Name(), err)
		}
	}
	if a.helpers, err = a.MakeGroup(helpersName); err != nil {
		return h, err
	}
	h.as = launch.RunAs{UID: a.as.uid, GID: a.as.gid, Groups: a.as.groups, Dir: a.Dir}.In(a.helpers)
	h.env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "USER=" + a.as.name, "HOME=" + h.seen,
		"XDG_RUNTIME_DIR=" + filepath.Join(h.seen, "run"), "TMPDIR=" + filepath.Join(h.seen, "tmp"),
	}
	return h, nil
}

// furnish makes the root file system one that the user's container can have: its top
// and what the engine writes to are the user's, and what it could not reach on the
// host is bound there by root.
func (a *arm) furnish(binds []engine.Bind) error {
	at := func(path string) string { return filepath.Join(a.root.Point, path) }
	for _, dir := range []string{"/", "/etc", "/run", "/.tare"} {
		if err := errors.Join(os.MkdirAll(at(dir), 0o755), os.Lchown(at(dir), a.as.uid, a.as.gid)); err != nil {
			return fmt.Errorf("give the root file system to user %s: %w", a.as.name, err)
		}
	}
	for _, b := range binds {
		if err := a.bind(b, at(b.Target)); err != nil {
			return fmt.Errorf("bind %s for user %s: %w", b.Source, a.as.name, err)
		}
	}
	// The socket, too, is asked by the user.
	return errors.Join(a.own(filepath.Join(a.Dir, "desk")), a.own(a.root.HostVolume))
}

// bind makes a mount on the root file system, which goes with it.
func (a *arm) bind(b engine.Bind, target string) error {
	st, err := os.Stat(b.Source)
	if err != nil {
		return err
	}
	if st.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else {
		err = os.WriteFile(target, nil, 0o755)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(b.Source, target, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if !b.ReadOnly {
		return nil
	}
	return unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

// own gives a directory with all in it to the user.
func (a *arm) own(dir string) error {
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, a.as.uid, a.as.gid)
	})
	if err != nil {
		return fmt.Errorf("give the data to user %s: %w", a.as.name, err)
	}
	return nil
}

// userSettings are what is said of a rootless container.
func (a *arm) userSettings() []record.Setting {
	if a.as == nil {
		return nil
	}
	all := []record.Setting{{Name: a.kind.Name() + ".user", Got: a.as.name}}
	lost := (Rootless{a.kind, a.as.name}).lost(a.Group.Tree, a.Spec)
	if a.mine {
		lost = ownLost(a.Spec, launch.Groups{Tree: a.Group.Tree})
	}
	for _, l := range lost {
		all = append(all, record.Setting{Name: "rootless." + l.Name, Got: l.Value})
	}
	if names := a.carriers.names(); names != "" {
		all = append(all, record.Setting{Name: "rootless.carriers", Got: names})
	}
	return all
}
