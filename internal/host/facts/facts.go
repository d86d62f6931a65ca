// Package facts is what was found of this host: what the host and this user can do, and
// otherwise the reason and the remedy. Package arms/inspect finds the facts; this package looks
// at nothing.
//
// To add: a fact is a field of Host, a feature a constant in features.go.
package facts

import (
	"errors"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Change is one change of the host, for people.
type Change struct {
	What   messages.Message // "cgroup /sys/fs/cgroup/cpu/tare-…/…"
	Detail []messages.Message
}

// Changed is a change with its details.
func Changed(what messages.Message, detail ...messages.Message) Change { return Change{what, detail} }

// Answer is yes, no or unknown.
type Answer int

// The answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// Support says whether something is possible here; for a no, why not and what to do.
type Support struct {
	Answer Answer
	Reason string
	Remedy string
}

// ErrUnsupported is wrapped by every error which says that this host or user cannot have
// something.
var ErrUnsupported = errors.New("not supported here")

// Supported is a yes without a reason.
func Supported() Support { return Support{Answer: Yes} }

// Unsupported is a no with its reason and remedy. reason may be the text of an error that wraps
// ErrUnsupported: its prefix is cut off.
func Unsupported(reason, remedy string) Support {
	return Support{Answer: No, Reason: strings.TrimPrefix(reason, ErrUnsupported.Error()+": "), Remedy: remedy}
}

// Host is what this host and user can do. It is found once per run.
type Host struct {
	Root bool
	// Container says why this process cannot measure the host: it is in a container. Empty: it is not.
	// ContainerRemedy says what to do.
	Container, ContainerRemedy string

	Groups    *cgroup.Tree // nil: no group can be made
	GroupsWhy string       // why Groups is nil
	// GroupsRemedy says what to do when Groups is nil.
	GroupsRemedy string
	Freezer      string // "freezer v2", "freezer v1" or ""
	FreezeWhy    string // why Freezer is ""
	// Features are the answers by name; see the Feature constants.
	Features map[string]Support
	// Tools are the programs found in PATH, by name.
	Tools map[string]Tool
	// Control is what keeps processes apart beside limits.
	Control Control
	// Volumes are the answers about the volumes of the experiment, by their words in it.
	Volumes map[string]Support
	// PodNode is the node with the pods of the experiment; empty: it is this host, or there are
	// no pods.
	PodNode string
}

// Tool is a program found on this host: its absolute path and the line with its version.
type Tool struct{ Path, Version string }
