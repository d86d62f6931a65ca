package doctor

import (
	"fmt"
	"time"
)

// Sentences of the doctor for users: titles, findings and remedies. They are formats of
// package fmt where they have arguments.

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

// Findings about this user and this kernel.
const (
	noContainer     = "tare is not in a container"
	userID          = "user id %d"
	runAsRoot       = "run as root for every layer; an ordinary user has the host and what user namespaces allow"
	noGroupsMounted = "no control groups are mounted"
	noGroups        = "no control groups"
	missingThese    = "missing: %s"
	enableThem      = "enable them on the kernel's command line (cgroup_enable=), mount them, or have them delegated to this user"
	noFreezer       = "no freezer"
	freezeAsRoot    = "run as root; otherwise the loads pause themselves between windows"
	noPSI           = "this kernel has no /proc/pressure"
	usePSI          = "use a kernel with CONFIG_PSI (Linux 4.20 and later)"
	psiOff          = "pressure accounting is off"
	startWithPSI    = "start the kernel with psi=1"
	psiUnreadable   = "/proc/pressure/cpu cannot be understood"
	hostPSIOnly     = "pressure of the whole host only: groups of version 1 have none"
	mountUnified    = "mount control groups of version 2 beside: mount -t cgroup2 none /sys/fs/cgroup/unified"
	byGroup         = "by group"
	ownMemory       = "this shell has a memory limit of %s that the arms do not have"
	noOwnLimit      = "none that the arms lack"
	limitArms       = "limit the arms too, with memory: SIZE of each in the experiment file"
)

// Memory and space.
const (
	memoryUnknown = "this kernel does not say how much memory is available"
	available     = "%s available of %s"
	lessMemory    = "end other programs, or use smaller tables (--set oltp.rows=...)"
	otherDisk     = "name a directory on another file system with --scratch DIR"
	otherScratch  = "name another scratch directory"
	freeHere      = "%s free in %s"
	freeBeyond    = "%s free in %s, %s beyond what a run leaves free"
	makeRoom      = "make room, or name a scratch directory on another file system"
)

// Frequency, swap and clock.
const (
	governorUnread  = "read the governor: %v"
	governorIs      = "governor %s"
	setGovernor     = "cpupower frequency-set -g performance"
	turboUnknown    = "the kernel does not say whether the CPU has turbo"
	turboUnread     = "read the turbo setting: %v"
	turboOn         = "turbo is on"
	turboOff        = "turbo is off"
	setTurboOff     = "for the last per cent: echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 >/sys/devices/system/cpu/cpufreq/boost"
	swapUnused      = "%s, unused"
	swapUsed        = "%s of %s used"
	setSwapOff      = "swapoff -a while measuring, if the memory suffices"
	clockUnknown    = "the kernel does not say its clock source: %v"
	clockSlow       = "%s, %v for a reading"
	chooseTSC       = "choose tsc where the kernel offers it: /sys/devices/system/clocksource/clocksource0/available_clocksource"
	diskInQuestion  = "name a scratch directory on the disk in question"
	cacheAnswers    = "%s: a cache answers"
	deviceUnknown   = "whether the device keeps what it has acknowledged cannot be seen from here"
	syncsNothing    = "this is memory, a sync does nothing"
	volatileOverlay = "a volatile overlay does not sync"
	noBarriers      = "mounted without barriers, a sync does not flush the device"
)

// syncTook says how long a write and a sync take on a file system.
func syncTook(where string, d time.Duration) string {
	return fmt.Sprintf("%s, %s for a 4 KiB write and fdatasync", where, d)
}

func fileSystemOn(kind, source string) string { return kind + " on " + source }

func withCache(where, cache string) string { return fmt.Sprintf("%s (device cache: %s)", where, cache) }

// Noise.
const (
	fewSlices    = "too few slices to tell"
	useUnknown   = "/proc/stat does not say it"
	foreignUse   = "other processes use %.0f %% of the CPU time"
	stolen       = "%.0f %% of the CPU time is stolen by the hypervisor"
	varies       = "the speed of %s varies by %.1f %% from window to window"
	wakesLate    = "wake-up delay: p99 %.2g ms"
	nothingWorse = "nothing here is worse than on a machine of one's own"
	endOthers    = "end or pause the other processes, which use %.0f %% of the CPU time"
	otherMachine = "another hour or a machine with CPUs of its own, for the hypervisor takes %.0f %% of the CPU time"
	cannotBeSeen = "another hour or machine: what disturbs this one cannot be seen from it"
)
