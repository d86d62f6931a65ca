// Package cgroup makes, limits, reads, freezes and removes control groups of
// version 1, version 2 and the hybrid of both. Everything is rooted at a path,
// so that a fixture tree can stand in for /sys/fs/cgroup. It knows files and
// nothing of arms.
package cgroup

import (
	"errors"
	"fmt"
	"os"
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

// Layout is which versions are mounted.
type Layout int

// The layouts.
const (
	None   Layout = iota // nothing usable is mounted
	V1                   // controllers on mounts of version 1
	V2                   // version 2 only
	Hybrid               // controllers on version 1 and version 2 beside, mostly empty
)

func (l Layout) String() string {
	return [...]string{"none", "v1", "v2", "hybrid"}[l]
}

// The names in Group.Dirs beside those of controllers.
const (
	Unified = "unified" // the directory of version 2
	freezer = "freezer" // the directory of the freezer of version 1
)

// Prefix is what the first element of every group's path begins with. Nothing
// is made and nothing removed outside of such groups.
const Prefix = "tare-"

// Tree is the mounted control groups, as Detect found them. It is safe for
// concurrent use.
type Tree struct {
	Layout Layout
	// V1 is the mount point of each controller of version 1, by controller
	// ("cpu", "memory", "freezer", ...).
	V1 map[string]string
	// V2 is the mount point of version 2, empty when there is none.
	V2 string
	// Controllers that a group of version 2 can have here.
	V2Controllers []string

	// at is the directory below which groups are made, by controller of
	// version 1 and Unified: the mount point, or the own group where the mount
	// point cannot be written. why says why there is none.
	at  map[string]string
	why map[string]*Unusable

	proc proc.FS
	kernel

	mu      sync.Mutex // held while groups are made and removed
	enabled []string   // controllers of version 2 that this Tree enabled at at[Unified]
	leaf    string     // where the own processes were moved, at[Unified] being occupied
	enables bool       // what was changed at at[Unified] has not been taken back
	held    *os.File   // its lock while groups have controllers there; nil: it could not be had
	// using are the groups, by path, that have controllers of version 2.
	using map[string]bool
}

// Group is one group in all hierarchies that it was made in. The zero value is
// no group. Path is below the place where groups are made; Controllers are
// those that the group has; plain groups have none and serve to freeze and to
// observe.
type Group struct {
	Tree        *Tree
	Path        string
	Controllers []string
	// Dirs is the directory by controller; Unified (the version 2 directory:
	// pressure, cpu.stat, cgroup.freeze) and "freezer" (version 1) where they
	// exist. A controller of version 2 has the version 2 directory under its
	// names of both versions: "io" and "blkio", "cpu" and "cpuacct".
	Dirs map[string]string

	hold string // the group that keeps its controllers enabled, if it needs one
}

// Dir is the directory of a controller, or why there is none.
func (g Group) Dir(controller string) (string, error) {
	if d, ok := g.Dirs[controller]; ok {
		return d, nil
	}
	return "", fmt.Errorf("no %s group", controller)
}
