// Package cgroup makes, limits, reads, freezes and removes control groups of version 1, version
// 2 and the hybrid of both. All paths are below a root, so that a fixture tree can stand in for
// /sys/fs/cgroup. The package knows files, and no arms.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tarelab/tare/internal/linux/proc"
)

// ErrNotFrozen means that the kernel did not confirm a freeze in time.
var ErrNotFrozen = errors.New("freeze not confirmed")

// Unusable is why this host and user cannot have a group, and what to do.
type Unusable struct{ Reason, Remedy string }

func (u *Unusable) Error() string {
	if u.Remedy == "" {
		return u.Reason
	}
	return u.Reason + "; " + u.Remedy
}

// Layout says which versions are mounted.
type Layout int

// The layouts.
const (
	None   Layout = iota // nothing usable is mounted
	V1                   // controllers on mounts of version 1
	V2                   // version 2 only
	Hybrid               // version 1 has controllers; version 2 is mounted too, mostly without any
)

func (l Layout) String() string {
	return [...]string{"none", "v1", "v2", "hybrid"}[l]
}

// The keys of Group.Dirs that are no controllers.
const (
	Unified = "unified" // the directory of version 2
	freezer = "freezer" // the directory of the freezer of version 1
)

// Prefix begins the first element of every group's path. This package makes and removes no
// other groups.
const Prefix = "tare-"

// ParentSuffix ends the name of a group that has one other group below it and no processes.
const ParentSuffix = ".parent"

// Tree is the mounted hierarchies, as Detect found them. It is safe for concurrent use.
type Tree struct {
	Layout Layout
	// V1 is the mount point of each controller of version 1, by controller
	// ("cpu", "memory", "freezer", ...).
	V1 map[string]string
	// V2 is the mount point of version 2; empty: not mounted.
	V2 string
	// V2Controllers are the controllers that a group of version 2 can have here.
	V2Controllers []string

	// at is the directory below which groups are made, by controller of version 1 and Unified:
	// the mount point, or the own group if this user cannot write to the mount point. Where
	// there is none, why is the reason.
	at  map[string]string
	why map[string]*Unusable

	proc proc.FS
	kernel

	mu      sync.Mutex // held while groups are made and removed
	enabled []string   // controllers of version 2 that this Tree enabled at at[Unified]
	leaf    string     // the group to which the own processes were moved because at[Unified] had processes
	enables bool       // changes at at[Unified] must be taken back
	lock    *os.File   // its lock while groups have controllers there; nil: another process has it
	// using are the groups with controllers of version 2, by path.
	using map[string]bool
}

// Group is one group in all hierarchies in which it was made. The zero value is no group. Path
// is relative to the directory below which groups are made. Controllers are those that the
// group has; a plain group has none and serves to freeze and to observe.
type Group struct {
	Tree        *Tree
	Path        string
	Controllers []string
	// Dirs are the directories by controller, and those of Unified (version 2: pressure,
	// cpu.stat, cgroup.freeze) and of "freezer" (version 1) if there are any. A controller of
	// version 2 has its directory under the names of both versions: "io" and "blkio", "cpu" and
	// "cpuacct".
	Dirs map[string]string

	hold string // the group that keeps the controllers enabled; empty: not needed
}

// Competing is the group that the kernel compares with the host's other groups by weight and by protected memory:
// the parent of g if its name ends with ParentSuffix, else g. Below such a parent g has no siblings, and these
// settings would have no effect.
func (g Group) Competing() Group {
	above := g
	above.Path, above.Dirs = competing(g.Path), map[string]string{}
	for controller, dir := range g.Dirs {
		above.Dirs[controller] = competing(dir)
	}
	return above
}

func competing(path string) string {
	if above := filepath.Dir(path); strings.HasSuffix(above, ParentSuffix) {
		return above
	}
	return path
}

// Dir is the directory of a controller, or an error with the reason why there is none.
func (g Group) Dir(controller string) (string, error) {
	if d, ok := g.Dirs[controller]; ok {
		return d, nil
	}
	return "", fmt.Errorf("no %s group", controller)
}
