// Package inspect finds out what this host and user can have, by trying it the
// way in which it is going to be used: a child in namespaces, an overlay in a
// private mount namespace, rules in a network namespace that is thrown away, a
// freeze of an empty group. It takes a fraction of a second and leaves the
// host as it was. The binary must dispatch launch.InitCommand, for it starts
// itself.
//
// The features are the Feature constants of package environment.
package inspect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/arms/oci"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// DefaultScratch is where data goes when nothing else is said: on a disk, where
// /tmp often is memory.
const DefaultScratch = "/var/tmp"

// bound is how long all trials may take together: far longer than they do, for
// a host whose CPUs are all busy must not look like one that forbids them.
const bound = 20 * time.Second

// Host finds out about this host; root is "/" outside tests.
func Host(root string) facts.Host { return HostAt(root, DefaultScratch) }

// HostAt is Host for data below the directory scratch.
func HostAt(root, scratch string) facts.Host {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	back := newTrail()
	defer back.close()
	h := facts.Host{Root: os.Geteuid() == 0, Tools: tools(ctx)}
	h.Groups, h.GroupsWhy, h.GroupsRemedy = groups(root)
	h.Freezer, h.FreezeWhy = freezer(back, h.Groups)
	if h.Groups == nil {
		h.FreezeWhy = h.GroupsWhy
	}
	h.Features = trials(ctx, back, scratch, h.Tools)
	h.Control = control(back, root, scratch, h.Groups)
	return h
}

// groups finds the control groups; nil with the reason where none can be made.
func groups(root string) (t *cgroup.Tree, why, remedy string) {
	t, err := cgroup.Detect(root)
	if err == nil {
		err = t.Can()
	}
	if err == nil {
		return t, "", ""
	}
	var u *cgroup.Unusable
	if errors.As(err, &u) {
		return nil, u.Reason, u.Remedy
	}
	return nil, err.Error(), "run as root"
}

// freezer freezes an empty group.
func freezer(back *trail, t *cgroup.Tree) (kind, why string) {
	if t == nil {
		return "", ""
	}
	err := back.group(t, "empty", nil, func(g cgroup.Group) (err error) {
		kind, err = tryFreezer(g)
		return err
	})
	if err != nil {
		return "", err.Error()
	}
	return kind, ""
}

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

// noisy are the programs that neighbours are made of.
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
