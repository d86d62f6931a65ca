package engines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// Rootless is Podman as an ordinary user has it: no process of it is root's, and its
// containers are in a user namespace. Root's tare mounts the root file system for it
// and puts its container into groups, which the user could not.
type Rootless struct{ User string }

var _, _ environment.Leveled = Rootless{}, Docker

// With makes Podman a user's: "user=NAME".
func (k Kind) With(levels string) (environment.Environment, error) {
	name, value, _ := strings.Cut(levels, "=")
	switch {
	case k != Podman:
		return nil, errors.New("docker has no levels; Podman has user=NAME")
	case name != "user" || value == "":
		return nil, fmt.Errorf("%q: want user=NAME, the user whose rootless container it is", levels)
	}
	return Rootless{value}, nil
}

// With is for another user.
func (r Rootless) With(levels string) (environment.Environment, error) { return Podman.With(levels) }

// Name is the word for it.
func (r Rootless) Name() string { return Podman.Name() }

// Title is one line for people.
func (r Rootless) Title() string {
	return "a container that Podman makes for user " + r.User + ", rootless"
}

// Support says whether this host and user can have it.
func (r Rootless) Support(h environment.Host) environment.Support {
	if s := Podman.Support(h); s.Answer != environment.Yes {
		return s
	}
	a, err := lookUp(r.User)
	switch {
	case err != nil:
		return environment.Unsupported(err.Error(), "name a user of this host: useradd "+r.User)
	case a.uid == 0:
		return environment.Unsupported("containers of "+r.User+" are not rootless", "environment: podman, or podman:user= of an ordinary user")
	}
	return a.can("/", runtimeOf(h.Groups))
}

// Suits says what of a container's network a rootless one cannot have.
func (r Rootless) Suits(c environment.Container) error {
	switch {
	case c.Network == environment.NetworkBridge:
		return hint.New(errors.New("network bridge: a rootless container has no bridge, its ports come through slirp4netns"),
			"network: published, or host")
	case c.Image != "":
		return hint.New(fmt.Errorf("image: images are in the storage of user %s, which tare leaves alone", r.User),
			"leave image out: the container has the host's binaries")
	}
	return nil
}

// Changes lists what Open and Start change on the host, and what the container
// lacks.
func (r Rootless) Changes(s environment.Spec) []environment.Change {
	groups, err := launch.ContainerGroups(s.Groups, "an engine")
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		environment.Change{What: "container " + nameOf(s), Detail: "made by rootless podman of user " + r.User + ", with storage and state in the arm's directory"},
		environment.Change{What: "overlay mount", Detail: "over /, below the arm's directory, for podman to see"},
	)
	if p, err := groups.Tree.Plan(launch.GroupName(s, helpersName), nil); err == nil {
		for _, dir := range p.Dirs {
			out = append(out, environment.Change{What: "cgroup " + dir, Detail: "for what the engine leaves running"})
		}
	}
	for _, l := range lost(groups.Tree, s) {
		out = append(out, environment.Change{What: "rootless: " + l.Name, Detail: l.Value})
	}
	return out
}

// lost is what a rootless container does without.
func lost(t *cgroup.Tree, s environment.Spec) []engine.Fact {
	limits := "none of the engine's own: without delegation of its groups (systemd: Delegate=yes) an ordinary user sets none; those around the container are tare's"
	if t != nil && t.Layout != cgroup.V2 {
		limits = "none of the engine's own: control groups of version 1 cannot be given to an ordinary user; those around the container are tare's"
	}
	network := "none: the load has no server"
	switch {
	case s.Container.Network == environment.NetworkHost:
		network = "the host's"
	case s.Port != 0:
		network = "slirp4netns, a process that copies every packet; the port is another process's (rootlessport); no bridge and no firewall rule"
	}
	return []engine.Fact{
		{Name: "limits", Value: limits},
		{Name: "network", Value: network},
		{Name: "files", Value: "those of other users of the host are nobody's in the container"},
	}
}

// Open makes the arm and its container, which Start starts.
func (r Rootless) Open(ctx context.Context, spec environment.Spec) (environment.Arm, error) {
	if err := r.Suits(spec.Container); err != nil {
		return nil, fmt.Errorf("open podman of user %s: %w: %w", r.User, environment.ErrUnsupported, err)
	}
	who, err := lookUp(r.User)
	if err != nil || who.uid == 0 {
		return nil, fmt.Errorf("open podman of user %s: %w: no ordinary user: %w", r.User, environment.ErrUnsupported, err)
	}
	a, err := Podman.open(ctx, spec, &who)
	if err != nil {
		return nil, fmt.Errorf("open podman of user %s: %w", r.User, err)
	}
	return a, nil
}

// prepareRootless is prepare for a user's container: the first command of the user's
// Podman makes the mount namespace that all later ones are in, so that everything is
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
	if a.engine, err = a.connect(); err != nil {
		return err
	}
	a.Undo(a.engine.Close)
	if a.facts, err = a.engine.Facts(ctx); err != nil {
		return err
	}
	c.Root, c.Binds = filepath.Join(launch.Here, filepath.Base(a.root.Point)), nil
	c.UserNetwork, c.Publish = "slirp4netns", a.Spec.Port
	return a.create(ctx, c)
}

const (
	// homeDir is the directory of the user's storage and state, in the arm's.
	homeDir = "home"
	// helpersName is the name of the group of the engine's own processes.
	helpersName = "engine"
)

// rootless is Podman as the user, whose processes stay in a group of their own: what
// they leave behind, conmon and the process that holds the namespaces, ends with it.
func (a *arm) rootless(path string) (engine.Engine, error) {
	home := filepath.Join(a.Dir, homeDir)
	for _, dir := range []string{home, filepath.Join(home, "run"), filepath.Join(home, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a home for podman: %w", err)
		}
		if err := os.Chown(dir, a.as.uid, a.as.gid); err != nil {
			return nil, fmt.Errorf("make a home for podman: %w", err)
		}
	}
	name := runtimeOf(a.Group.Tree)
	runtime, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; apt install %s", environment.ErrUnsupported, err, name)
	}
	// Locks in files: those in memory are in /dev/shm, one for all of the user's.
	conf := filepath.Join(home, "containers.conf")
	text := fmt.Sprintf("[containers]\npids_limit = 0\n[engine]\nlock_type = \"file\"\nevents_logger = \"none\"\n"+
		"cgroup_manager = \"cgroupfs\"\n[engine.runtimes]\n%s = [%q]\n", name, runtime)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("make a home for podman: %w", err)
	}
	if a.helpers, err = a.MakeGroup(helpersName); err != nil {
		return nil, err
	}
	as := launch.RunAs{UID: a.as.uid, GID: a.as.gid, Groups: a.as.groups, Dir: a.Dir}.In(a.helpers)
	home = filepath.Join(launch.Here, homeDir)
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "USER=" + a.as.name, "HOME=" + home,
		"XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "TMPDIR=" + filepath.Join(home, "tmp"), "CONTAINERS_CONF=" + filepath.Join(home, filepath.Base(conf)),
	}
	return engine.Podman{Path: path, Runtime: name, Change: func(cmd *exec.Cmd) error {
		cmd.Env, cmd.Dir = env, "/"
		return as.Command(cmd)
	}}, nil
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

// carriers are the programs that carry the packets of a rootless container: they
// are part of what it costs.
var carriers = []string{"slirp4netns", "pasta", "pasta.avx2", "rootlessport"}

// takeCarriers puts them beside the arm, where they are frozen and counted with it.
func (a *arm) takeCarriers() error {
	pids, err := a.helpers.Pids()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if err != nil || !slices.Contains(carriers, filepath.Base(exe)) {
			continue
		}
		if err := a.Outside.Add(pid); err != nil {
			return err
		}
		a.carriers = append(a.carriers, filepath.Base(exe))
	}
	return nil
}

// userSettings are what is said of a rootless container.
func (a *arm) userSettings() []record.Setting {
	if a.as == nil {
		return nil
	}
	all := []record.Setting{{Name: "podman.user", Got: a.as.name}}
	for _, l := range lost(a.Group.Tree, a.Spec) {
		all = append(all, record.Setting{Name: "rootless." + l.Name, Got: l.Value})
	}
	if len(a.carriers) > 0 {
		slices.Sort(a.carriers)
		all = append(all, record.Setting{Name: "rootless.carriers", Got: strings.Join(slices.Compact(a.carriers), ", ")})
	}
	return all
}
