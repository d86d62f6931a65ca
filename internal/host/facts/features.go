package facts

import (
	"errors"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// The names of the features in Host.Features, which inspect finds by trying: as root for root,
// in a user namespace for an ordinary user.
const (
	// FeatureNamespaces: a process in mount, pid, UTS and IPC namespaces of its
	// own, with its own /proc.
	FeatureNamespaces = "namespaces"
	// FeatureOverlay: an overlay with its upper directory in the scratch
	// directory, as the root file system of such a process.
	FeatureOverlay = "overlay"
	// FeatureSeccomp: Docker's default filter and capabilities.
	FeatureSeccomp = "seccomp"
	// FeatureNetwork: network namespaces, a bridge and a veth pair.
	FeatureNetwork = "network"
	// FeatureNAT: destination NAT with nftables.
	FeatureNAT = "nat"
	// FeatureRealtime: SCHED_FIFO for the thread that controls the rotation.
	FeatureRealtime = "realtime"
	// FeatureContainer: an OCI runtime; Host.Tools has its path.
	FeatureContainer = "container"
	// FeatureDocker: a Docker daemon on this host, as root.
	FeatureDocker = "docker"
	// FeaturePodman: Podman is installed.
	FeaturePodman = "podman"
)

// Features are the features of the ladder, in its order. Engines are not on the ladder.
func Features() []string {
	return []string{
		FeatureNamespaces, FeatureOverlay, FeatureSeccomp, FeatureNetwork, FeatureNAT,
		FeatureContainer, FeatureRealtime,
	}
}

// Has is the answer about a feature; unknown if it was not tried.
func (h Host) Has(feature string) Support {
	if s, ok := h.Features[feature]; ok {
		return s
	}
	return Support{Answer: Unknown, Reason: record.Say("not_tried", "name", feature)}
}

// GroupsCan says whether this host and user can have groups with controllers.
func (h Host) GroupsCan(controllers ...string) Support {
	if h.Groups == nil {
		return h.NoGroups
	}
	err := h.Groups.Can(controllers...)
	switch {
	case err == nil:
		return Supported()
	case errors.As(err, new(*cgroup.Unusable)):
		return Refused(err)
	}
	if hint.Of(err) == "" {
		err = hint.New(err, "run as root")
	}
	return Unclear(err)
}
