package facts

// The features by name: what Host.Features answers, found by trying. As root
// they are tried as root, as an ordinary user in a user namespace.
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
	// FeatureContainer: an OCI runtime, see Tools for which.
	FeatureContainer = "container"
	// FeatureDocker: a Docker daemon on this host, as root.
	FeatureDocker = "docker"
	// FeaturePodman: Podman is installed.
	FeaturePodman = "podman"
)

// Features lists the features of the ladder in its order; engines stand beside it.
func Features() []string {
	return []string{
		FeatureNamespaces, FeatureOverlay, FeatureSeccomp, FeatureNetwork, FeatureNAT,
		FeatureContainer, FeatureRealtime,
	}
}

// Has is the answer about a feature; one that was not tried is not known.
func (h Host) Has(feature string) Support {
	if s, ok := h.Features[feature]; ok {
		return s
	}
	return Support{Answer: Unknown, Reason: feature + " was not tried"}
}
