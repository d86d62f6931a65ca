// Package inspect finds out what this host and user can have, by trying each feature as an arm uses
// it: a child in namespaces, an overlay in a private mount namespace, rules in a new network
// namespace, a freeze of an empty group. That takes a fraction of a second and leaves the host
// unchanged. The package starts its own binary, which has to run launch.Roles.
//
// The features are the Feature constants of host/facts.
package inspect

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/arms/oci"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/enter"
	"github.com/tarelab/tare/record"
)

// DefaultScratch is the default directory for data. It is usually on a disk, where /tmp often is in
// memory.
const DefaultScratch = "/var/tmp"

// bound is how long all trials may take together. It is far longer than they usually take, because
// a busy host must not look like a host that forbids a feature.
const bound = 20 * time.Second

// Host inspects this host. root is "/" outside tests.
func Host(root string) facts.Host { return HostAt(root, DefaultScratch) }

// HostAt is Host for data below the directory scratch.
func HostAt(root, scratch string) facts.Host {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	back := newUndoing()
	defer back.close()
	h := facts.Host{Root: os.Geteuid() == 0, Tools: tools(ctx)}
	h.Container, h.ContainerRemedy = enter.NotHost(proc.FS(root))
	h.Groups, h.NoGroups = groups(root)
	h.Freezer, h.NoFreezer = freezer(back, h.Groups)
	if h.Groups == nil {
		h.NoFreezer = h.NoGroups.Reason
	}
	h.Features = trials(ctx, back, scratch, h.Tools)
	h.Control = control(back, root, scratch, h.Groups)
	return h
}

// groups finds the control groups; nil, with the reason, where none can be made.
func groups(root string) (t *cgroup.Tree, none facts.Support) {
	t, err := cgroup.Detect(root)
	if err == nil {
		err = t.Can()
	}
	if err == nil {
		return t, facts.Support{}
	}
	return nil, facts.Refused(hint.New(err, "run as root"))
}

// freezer freezes an empty group.
func freezer(back *undoing, t *cgroup.Tree) (kind string, why record.Said) {
	if t == nil {
		return "", record.Said{}
	}
	err := back.group(t, "empty", nil, func(g cgroup.Group) (err error) {
		kind, err = tryFreezer(g)
		return err
	})
	if err != nil {
		return "", record.InProse(err.Error())
	}
	return kind, record.Said{}
}

// tryFreezer freezes and thaws a group.
func tryFreezer(g cgroup.Group) (kind string, err error) {
	f, err := g.Freezer()
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := f.Freeze(time.Second); err != nil {
		return "", err
	}
	return f.Kind(), f.Thaw()
}

// noisy are the programs of neighbours.
func noisy() []string { return []string{"stress-ng", "stress", "fio"} }

// tools finds the programs that tare can use.
func tools(ctx context.Context) map[string]facts.Tool {
	found := map[string]facts.Tool{}
	for _, name := range slices.Concat(oci.Runtimes(), noisy()) {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(out), "\n")
		found[name] = facts.Tool{Path: path, Version: strings.TrimSpace(first)}
	}
	return found
}
