package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Rootless is an engine as an ordinary user has it: no process of it is root's, and its
// containers are in a user namespace. Root's tare mounts the root file system for it
// and puts its container into groups, which the user could not.
type Rootless struct {
	Kind Kind
	User string
}

var _, _ environment.Leveled = Rootless{}, Docker

// With makes an engine a user's: "user=NAME".
func (k Kind) With(levels string) (environment.Environment, error) {
	name, value, _ := strings.Cut(levels, "=")
	if name != "user" || value == "" {
		return nil, fmt.Errorf("%q: want user=NAME, the user whose rootless container it is", levels)
	}
	return Rootless{k, value}, nil
}

// With is for another user.
func (r Rootless) With(levels string) (environment.Environment, error) { return r.Kind.With(levels) }

// Name is the word for it.
func (r Rootless) Name() string { return r.Kind.Name() }

// Title is one line for people.
func (r Rootless) Title() string {
	return "a container that " + r.Kind.Name() + " makes for user " + r.User + ", rootless"
}

// Support says whether this host and user can have it.
func (r Rootless) Support(h environment.Host) environment.Support {
	if s := r.engine(h); s.Answer != environment.Yes {
		return s
	}
	a, err := lookUp(r.User)
	switch {
	case err != nil:
		return environment.Unsupported(err.Error(), "name a user of this host: useradd "+r.User)
	case a.uid == 0:
		return environment.Unsupported("containers of "+r.User+" are not rootless", fmt.Sprintf("environment: %[1]s, or %[1]s:user= of an ordinary user", r.Name()))
	}
	return a.can("/", r.needs(h.Groups))
}

// engine says whether the engine itself can be had. A rootless Docker is a daemon that
// tare starts: whether one of root's runs says nothing of it.
func (r Rootless) engine(h environment.Host) environment.Support {
	if !h.Root {
		return environment.Unsupported("only root makes containers of another user", "run as root, or as that user: podman")
	}
	if r.Kind != Docker {
		return r.Kind.Support(h)
	}
	if _, err := dockerScript(); err != nil {
		return environment.Unsupported(err.Error(), "apt install docker.io, or Docker's own docker-ce-rootless-extras")
	}
	return r.Kind.around(h)
}

// needs are the programs without which the user has no container.
func (r Rootless) needs(t *cgroup.Tree) []tool {
	all := []tool{
		{"newuidmap", "apt install uidmap", "it gives the user's namespace its ids"},
		{"slirp4netns", "apt install slirp4netns", "it is the network of a rootless container"},
	}
	if r.Kind == Docker {
		return append(all,
			tool{"rootlesskit", "apt install rootlesskit", "the daemon of a rootless Docker runs in it"},
			tool{"dockerd", "apt install docker.io", "it is the daemon"},
			tool{"iptables", "apt install iptables", "the daemon has rules in the network of rootlesskit"})
	}
	runtime := runtimeOf(t)
	return append(all, tool{runtime, "apt install " + runtime, "it makes the container"})
}

// Suits says what of a container's network a rootless one cannot have.
func (r Rootless) Suits(c environment.Container) error {
	switch {
	case c.Network == environment.NetworkHost && r.Kind == Docker:
		return hint.New(errors.New("network host: to a rootless Docker that is the network of its daemon, which is not the host's"),
			"network: published; or podman:user=NAME, which has the host's")
	case c.Network == environment.NetworkBridge:
		return hint.New(errors.New("network bridge: a rootless container has no bridge that the host could reach, its ports are copied"),
			"network: published"+orHost[r.Kind])
	case c.Profile() != "":
		return hint.New(errors.New("apparmor: an ordinary user's engine puts containers under no profile"), "leave apparmor out")
	case c.Label() != (environment.Label{}) && r.Kind == Docker:
		return hint.New(errors.New("selinux: the daemon of a rootless Docker runs with Docker's defaults, which are no labels"), "podman:user=NAME, or leave selinux out")
	case c.Image != "":
		return hint.New(fmt.Errorf("image: images are in the storage of user %s, which tare leaves alone", r.User),
			"leave image out: the container has the host's binaries")
	}
	return nil
}

// orHost is said of the networks where there is a choice.
var orHost = map[Kind]string{Podman: ", or host"}

// Changes lists what Open and Start change on the host, and what the container
// lacks.
func (r Rootless) Changes(s environment.Spec) []environment.Change {
	groups, err := launch.ContainerGroups(s.Groups, "an engine")
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		environment.Change{What: "container " + nameOf(s), Detail: "made by rootless " + r.Name() + " of user " + r.User + ", with storage and state in the arm's directory"},
		environment.Change{What: "overlay mount", Detail: "over /, below the arm's directory, for " + r.Name() + " to see"},
	)
	if r.Kind == Docker {
		out = append(out, environment.Change{What: "daemon of user " + r.User, Detail: "dockerd in rootlesskit, the arm's own; " + r.User + "'s containers and images are left alone"})
	}
	if p, err := groups.Tree.Plan(launch.GroupName(s, helpersName), nil); err == nil {
		for _, dir := range p.Dirs {
			out = append(out, environment.Change{What: "cgroup " + dir, Detail: "for what the engine leaves running"})
		}
	}
	for _, l := range r.lost(groups.Tree, s) {
		out = append(out, environment.Change{What: "rootless: " + l.Name, Detail: l.Value})
	}
	return out
}

// lost is what a rootless container does without.
func (r Rootless) lost(t *cgroup.Tree, s environment.Spec) []engine.Fact {
	limits := "none of the engine's own: without delegation of its groups (systemd: Delegate=yes) an ordinary user sets none; those around the container are tare's"
	if t != nil && t.Layout != cgroup.V2 {
		limits = "none of the engine's own: control groups of version 1 cannot be given to an ordinary user; those around the container are tare's"
	}
	network := "none: the load has no server"
	switch {
	case s.Container.Network == environment.NetworkHost:
		network = "the host's"
	case s.Port != 0 && r.Kind == Docker:
		network = "that of rootlesskit, whose port is a process that copies every byte, to another (docker-proxy); what the container begins goes through slirp4netns; no bridge or firewall rule of the host's"
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
	a, err := r.open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s of user %s: %w", r.Name(), r.User, err)
	}
	return a, nil
}

func (r Rootless) open(ctx context.Context, spec environment.Spec) (*arm, error) {
	if err := r.Suits(spec.Container); err != nil {
		return nil, fmt.Errorf("%w: %w", environment.ErrUnsupported, err)
	}
	who, err := lookUp(r.User)
	if err != nil || who.uid == 0 {
		return nil, fmt.Errorf("%w: no ordinary user: %w", environment.ErrUnsupported, err)
	}
	return r.Kind.open(ctx, spec, &who)
}
