// Package facts is what was found of this host: what it and the user can do, with the reason and
// the remedy where they cannot. Package arms/inspect finds it; nothing here looks at the host.
//
// To add: a fact is a field of Host, a feature a constant in features.go.
package facts

import (
	"errors"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Change is one change of the host, for people.
type Change struct {
	What   string // "cgroup /sys/fs/cgroup/cpu/tare-…/…"
	Detail string
}

// Answer is three-valued.
type Answer int

// The answers. The zero value is: could not tell.
const (
	Unknown Answer = iota
	Yes
	No
)

// Support is whether something is possible here, why not, and what to do.
type Support struct {
	Answer Answer
	Reason string
	Remedy string
}

// ErrUnsupported is wrapped by every error that means: this host or user
// cannot have it.
var ErrUnsupported = errors.New("not supported here")

// Supported is the plain yes.
func Supported() Support { return Support{Answer: Yes} }

// Unsupported is a no with its reason and remedy. A reason that is the text of an error says
// no more than once that it is about this host.
func Unsupported(reason, remedy string) Support {
	return Support{Answer: No, Reason: strings.TrimPrefix(reason, ErrUnsupported.Error()+": "), Remedy: remedy}
}

// Host is what this host and user can do, found once per run.
type Host struct {
	Root      bool
	Groups    *cgroup.Tree // nil when no group can be made
	GroupsWhy string       // why Groups is nil
	// GroupsRemedy is what to do about it.
	GroupsRemedy string
	Freezer      string // "freezer v2", "freezer v1" or ""
	FreezeWhy    string // why Freezer is ""
	// Features by name, see the Feature constants.
	Features map[string]Support
	// Tools found in PATH, by name: absolute path and version line.
	Tools map[string]Tool
	// Control is what control groups and the like offer beside limits.
	Control Control
	// Volumes are the answers about the volumes of the experiment, by their words.
	Volumes map[string]Support
	// PodNode is the node of the pods of the experiment, where that is not this host;
	// empty: it is, or there are none.
	PodNode string
}

// Tool is a program found on this host.
type Tool struct{ Path, Version string }
