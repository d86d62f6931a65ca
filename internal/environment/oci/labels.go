package oci

import (
	"errors"
	"fmt"

	"github.com/opencontainers/selinux/go-selinux"
	"github.com/opencontainers/selinux/go-selinux/label"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
)

// labels are SELinux labels, of a container's process and of what its runtime mounts;
// empty: the runtime asks for none.
type labels struct{ process, mount string }

// labelsOf completes what was chosen of a label by the policy of this host, as engines
// do: the files of its context for containers, and categories of the container's own.
func labelsOf(l environment.Label) (all labels, err error) {
	switch {
	case l == (environment.Label{}):
		return all, nil
	case !selinux.GetEnabled(): // the check below would write a file into the current directory
		err = errors.New("this kernel runs without SELinux")
	default:
		all.process, all.mount, err = label.InitLabels(l.Options())
		if l.User != "" {
			all.process = l.String()
		}
		if err == nil && all.process == "" {
			err = errors.New("the policy here knows no containers (lxc_contexts)")
		}
		if err == nil {
			err = selinux.SecurityCheckContext(all.process)
		}
	}
	if err != nil {
		return all, hint.New(fmt.Errorf("%w: selinux %s: %w", environment.ErrUnsupported, l, err),
			"seinfo -t lists the types of this host's policy; dnf install container-selinux brings those of containers")
	}
	return all, nil
}
