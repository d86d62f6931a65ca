// Package facts is what was found of this host: what the host and this user can do, and
// otherwise the reason and the remedy. Package arms/inspect finds the facts; this package looks
// at nothing.
//
// To add: a fact is a field of Host, a feature a constant in features.go.
package facts

import (
	"errors"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
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
	Reason record.Said
	Remedy record.Said
}

// ErrUnsupported is wrapped by every error which says that this host or user cannot have
// something.
var ErrUnsupported = errors.New("not supported here")

// Supported is a yes without a reason.
func Supported() Support { return Support{Answer: Yes} }

// Unsupported is a no with its reason and remedy.
func Unsupported(reason, remedy record.Said) Support { return Support{No, reason, remedy} }

// Refused is a no with the text of an error, without the prefix of ErrUnsupported, and with its remedy.
func Refused(err error) Support {
	if why := new(cgroup.Unusable); errors.As(err, &why) {
		return Unsupported(record.InProse(why.Reason), record.InProse(why.Remedy))
	}
	return Unsupported(inProse(err), record.InProse(hint.Of(err)))
}

// Unclear is an unknown with the text of an error and its remedy.
func Unclear(err error) Support {
	return Support{Unknown, inProse(err), record.InProse(hint.Of(err))}
}

func inProse(err error) record.Said {
	return record.InProse(strings.TrimPrefix(err.Error(), ErrUnsupported.Error()+": "))
}

// Uninstalled is a no because a program is not installed; install is the command.
func Uninstalled(program, install string) Support {
	return Unsupported(record.Say("not_installed", "name", program), Command(install))
}

// Command is a remedy that is a command.
func Command(command string) record.Said { return record.Say("run_command", "command", command) }

// AsRoot is the remedy of what only root may do.
func AsRoot() record.Said { return record.Say("run_as_root") }

// Host is what this host and user can do. It is found once per run.
type Host struct {
	Root bool
	// Container says why this process cannot measure the host: it is in a container. Nothing: it is not.
	// ContainerRemedy says what to do.
	Container, ContainerRemedy record.Said

	Groups    *cgroup.Tree // nil: no group can be made
	NoGroups  Support      // why Groups is nil
	Freezer   string       // "freezer v2", "freezer v1" or ""
	NoFreezer record.Said  // why Freezer is ""
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
