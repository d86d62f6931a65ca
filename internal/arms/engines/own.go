package engines

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/record"
)

// For an ordinary user, Podman makes rootless containers. The kernel refuses a user's overlay over
// /, so the container's root is a plain directory: it has the links at the top of the host's root,
// and the host's directories are bound read-only. Podman's storage and state are in the arm's
// directory.

// plain are the directories at the top of a root that are not bound from the host.
var plain = []string{"dev", "proc", "sys", "tmp", "run", "lost+found"}

// userName is the name of the user that runs tare, or the uid of a user without a name.
func userName() string {
	id := strconv.Itoa(os.Geteuid())
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// ownSupport is Support for an ordinary user.
func (k Kind) ownSupport(h facts.Host) facts.Support {
	if k == Docker {
		return facts.Unsupported(record.Say("container_needs_root"), record.Say("root_or_podman"))
	}
	for _, feature := range []string{k.feature(), facts.FeatureNamespaces} {
		if s := h.Has(feature); s.Answer != facts.Yes {
			return s
		}
	}
	runtime := runtimeOf(hostTree(h.Groups))
	if _, err := exec.LookPath(runtime); err != nil {
		return facts.Unsupported(record.Say("runtime_not_installed", "name", runtime), facts.Command("apt install "+runtime))
	}
	return facts.Supported()
}

// ownLost lists what a rootless container lacks, for people.
func ownLost(s environment.Spec, groups launch.Groups) []engine.Fact {
	limits := "none at all, nor a freezer: this user can make no control groups; the load pauses itself"
	if groups.Tree != nil {
		limits = "none of the engine's own; those around the container are tare's"
	}
	network := "none: the load has no server"
	switch {
	case s.Container.Network == environment.NetworkHost:
		network = "the host's"
	case s.Port != 0:
		network = "Podman's default for an ordinary user (slirp4netns, pasta from Podman 5 on): processes that copy every packet; the arm's freezer and counters do not include them"
	}
	return []engine.Fact{
		{Name: "root", Value: "a plain directory, with the host's directories for reading: the kernel refuses an ordinary user's overlay over /; the cost of an overlay is not in it"},
		{Name: "limits", Value: limits},
		{Name: "network", Value: network},
		{Name: "files", Value: "those of other users of the host are nobody's in the container"},
	}
}

// hostTree is the host's tree of control groups, also where this user can make none.
func hostTree(t *cgroup.Tree) *cgroup.Tree {
	if t == nil {
		t, _ = cgroup.Detect("/") // on an error any runtime will do
	}
	return t
}

// ownGroups are the groups of a user: ample ones if the user has controllers, else plain ones.
func ownGroups(t *cgroup.Tree) (launch.Groups, error) {
	if g, err := launch.AmpleGroups(t); err == nil {
		return g, nil
	}
	return launch.PlainGroups(t)
}

// ownChanges are Changes for an ordinary user.
func (k Kind) ownChanges(s environment.Spec) []facts.Change {
	groups, err := ownGroups(s.Groups)
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		facts.Changed(messages.Say("change.container", "name", nameOf(s)), messages.Say("change.madeby.you", "name", k.Name())),
		facts.Changed(messages.Say("change.directory", "path", runDir(s)), messages.Say("change.directory.state")))
	for _, l := range ownLost(s, groups) {
		out = append(out, facts.Changed(messages.Say("change.rootless", "name", l.Name), messages.Say("change.plain", "text", l.Value)))
	}
	return out
}

// refuses returns which choice a rootless container cannot have; root's container can have all.
func refuses(c environment.Container) error {
	switch {
	case os.Geteuid() == 0:
		return nil
	case c.Image != "":
		return hint.New(errors.New("image: a rootless container cannot have an image"), "leave image out: the container has the host's binaries; or run as root")
	case c.Network == environment.NetworkBridge:
		return hint.New(errors.New("network bridge: a rootless container has no bridge that the host could reach"), "network: published, or host")
	case c.Network != environment.NetworkPublished && c.Network != environment.NetworkEngine:
		return nil
	}
	if err := unix.Access("/dev/net/tun", unix.R_OK|unix.W_OK); err != nil {
		return hint.New(fmt.Errorf("network %s: Podman's network needs /dev/net/tun, which this user may not open: %w", c.Network, err),
			"network: host; or let root give you the device: modprobe tun; setfacl -m u:"+userName()+":rw /dev/net/tun")
	}
	for _, program := range []string{"pasta", "slirp4netns"} { // Podman's own check says which of them its version needs
		if _, err := exec.LookPath(program); err == nil {
			return nil
		}
	}
	return hint.New(fmt.Errorf("network %s: neither pasta nor slirp4netns is installed", c.Network),
		"network: host; or apt install passt, for Podman before version 5 apt install slirp4netns")
}

// prepareOwn is prepare for a rootless container.
func (a *arm) prepareOwn(ctx context.Context) (err error) {
	if a.root, err = launch.MakeRootDirs(a.Dir, a.BoundDir()); err != nil {
		return err
	}
	if err := a.FillVolume(ctx, a.root.HostVolume); err != nil {
		return err
	}
	c, err := a.container()
	if err != nil {
		return err
	}
	c.Root, c.Publish = a.root.Upper, a.Spec.Port // the network is the default of this version of Podman
	binds, err := layOut(a.root.Upper)
	if err != nil {
		return err
	}
	c.Binds = append(binds, c.Binds...)
	if a.engine, err = a.ownPodman(); err != nil {
		return err
	}
	if a.facts, err = a.engine.Facts(ctx); err != nil {
		return err
	}
	return a.create(ctx, c)
}

// layOut makes the links at the top of a root and returns the binds for it.
func layOut(root string) ([]engine.Bind, error) {
	entries, err := os.ReadDir("/")
	if err != nil {
		return nil, fmt.Errorf("list the root file system: %w", err)
	}
	var binds []engine.Bind
	for _, e := range entries {
		at := filepath.Join(root, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			to, err := os.Readlink("/" + e.Name())
			if err == nil {
				err = os.Symlink(to, at)
			}
			if err != nil {
				return nil, fmt.Errorf("make a link of the root file system: %w", err)
			}
		case e.IsDir() && !slices.Contains(plain, e.Name()):
			binds = append(binds, engine.Bind{Source: "/" + e.Name(), Target: "/" + e.Name(), ReadOnly: true})
		}
	}
	tmp := filepath.Join(root, "tmp")
	return binds, errors.Join(os.Mkdir(tmp, 0o777), os.Chmod(tmp, 0o777|os.ModeSticky))
}

// ownPodman is Podman with storage, state and configuration in the arm's directory.
func (a *arm) ownPodman() (engine.Engine, error) {
	var none engine.Engine
	path, err := podmanPath()
	if err != nil {
		return none, err
	}
	name := runtimeOf(hostTree(a.Group.Tree))
	runtime, err := exec.LookPath(name)
	if err != nil {
		return none, fmt.Errorf("%w: %w; apt install %s", facts.ErrUnsupported, err, name)
	}
	dir, run := filepath.Join(a.Dir, "home"), runDir(a.Spec)
	// The processes of this Podman are found by XDG_RUNTIME_DIR in their environment, also the
	// process that holds the user namespace and does not end with tare.
	back := func() error { return errors.Join(steps.EndRuntime(run), steps.RemoveDirectory(run)) }
	if err := a.Record(steps.Runtime{Path: run}, back); err != nil {
		return none, err
	}
	tmp, conf := filepath.Join(dir, "tmp"), filepath.Join(dir, "containers.conf")
	for _, d := range []string{dir, run, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return none, fmt.Errorf("make a home for podman: %w", err)
		}
	}
	// Locks in files, because locks in /dev/shm are shared by all of the user's Podmans.
	text := fmt.Sprintf("[containers]\npids_limit = 0\n[engine]\nlock_type = \"file\"\nevents_logger = \"none\"\n"+
		"cgroup_manager = \"cgroupfs\"\n[engine.runtimes]\n%s = [%q]\n", name, runtime)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return none, fmt.Errorf("make a home for podman: %w", err)
	}
	p := engine.NewPodman(path)
	p.Runtime = name
	p.Env = []string{"HOME=" + dir, "TMPDIR=" + tmp, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "CONTAINERS_CONF=" + conf, "XDG_RUNTIME_DIR=" + run}
	return p, nil
}

// runtimeOf is the OCI runtime of a rootless container. crun does without groups by itself, but
// fails where version 2 has controllers beside version 1.
func runtimeOf(t *cgroup.Tree) string {
	if t != nil && t.Layout == cgroup.Hybrid {
		return "runc"
	}
	return "crun"
}

// userSettings are the settings of a rootless container.
func (a *arm) userSettings() []record.Setting {
	if a.user == "" {
		return nil
	}
	all := []record.Setting{{Name: a.kind.Name() + ".user", Got: a.user}}
	if a.state.Network != "" {
		all = append(all, record.Setting{Name: a.kind.Name() + ".network", Got: a.state.Network})
	}
	for _, l := range ownLost(a.Spec, launch.Groups{Tree: a.Group.Tree}) {
		all = append(all, record.Setting{Name: "rootless." + l.Name, Got: l.Value})
	}
	return all
}

// runDir is XDG_RUNTIME_DIR of Podman. Podman accepts at most 50 characters, of which it adds 11.
func runDir(s environment.Spec) string {
	return filepath.Join("/tmp", fmt.Sprintf("tare-%s-%08x", s.Run, crc32.ChecksumIEEE([]byte(s.Arm))))
}
