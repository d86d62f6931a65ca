package doctor

// Titles of checks and of loops.
const (
	titleGroups      = "control groups"
	titlePSI         = "pressure accounting"
	titleMemory      = "free memory"
	titleDisk        = "free space"
	titleSync        = "durable writes"
	titleGovernor    = "CPU frequency"
	titleTurbo       = "turbo frequency"
	titleOverlay     = "overlay root file system"
	titleSeccomp     = "seccomp and capabilities"
	titleNetwork     = "network namespace, veth, bridge"
	titleNAT         = "port forwarding with nftables"
	titleRuntime     = "OCI runtime"
	titleRealtime    = "real-time priority for the controller"
	titleOwnLimit    = "memory limit of this shell"
	titleArithmetic  = "arithmetic"
	titleMemoryReads = "reading memory"
	titleSystemCalls = "system calls"
)

// The remedy of an error, and a command.
const (
	otherScratch   = "name a directory on another file system with --scratch DIR"
	setPerformance = "cpupower frequency-set -g performance"
)
