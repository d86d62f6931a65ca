package isolation

// Sentences of the mechanisms for users, without errors.

// Titles of mechanisms.
const (
	titleNone       = "nothing between the two"
	titleGroup      = "a cpu group of its own, with equal weight"
	titleWeight     = "a smaller weight in the division of CPU time"
	titleIdle       = "runs only where nobody else wants to"
	titleQuota      = "an upper bound of CPU time"
	titleBurst      = "an upper bound of CPU time, and as much again of what was not used before"
	titlePinned     = "kept on the last CPUs, which the arm may use too"
	titleSplit      = "CPUs of its own, the last ones; the arm has the rest"
	titleNice       = "a lower priority among the threads of its cpu group"
	titleBatch      = "SCHED_BATCH: woken threads do not interrupt others"
	titleSchedIdle  = "SCHED_IDLE: the least priority among the threads of its cpu group"
	titleQoS        = "offline, as openEuler calls it: gives way to every group that is online"
	titleMemoryMax  = "a hard bound of memory"
	titleMemoryHigh = "reclaims its own memory above a bound"
	titleMemoryLow  = "the arm's memory is not reclaimed for others, up to a size"
	titleIOWeight   = "a smaller weight in the division of disk time"
	titleIOMax      = "an upper bound of reads and of writes on the disk"
)

// Levels.
const (
	helpWeight   = "1 to 10000, where 100 is everybody's"
	helpQuota    = "share of all CPUs, such as 25%"
	helpPinned   = "how many CPUs"
	helpSplit    = "how many CPUs the neighbour gets"
	helpNice     = "1 to 19, the least"
	helpQoS      = "-1, or -2 where the kernel has five levels"
	helpBytes    = "such as 64MiB"
	helpIOWeight = "1 to 1000, where 100 is everybody's"
	helpIOMax    = "of each: bytes such as 10MiB/s, or operations such as 100/s"
)

// Why this host cannot have a mechanism.
const (
	oneCPU      = "there is only one CPU"
	unknownCPUs = "the CPUs of this host are unknown"
)

func noGroups(why string) string       { return "no control groups: " + why }
func filesNotListed(why string) string { return "the control files could not be listed: " + why }
func noFile(name string) string        { return "this kernel's control groups have no " + name }
func noWeights(scheduler string) string {
	return "the scheduler of the disk does not divide by weight: " + scheduler
}
func noDisk(why string) string { return "no disk whose use could be bounded: " + why }

// Remedies.
const (
	moreCPUs         = "a machine with more CPUs"
	kernelWithIdle   = "a kernel from 5.15 on"
	kernelWithQuota  = "a kernel with CONFIG_CFS_BANDWIDTH, from 5.14 on for bursts"
	kernelWithQoS    = "a kernel of openEuler with control groups of version 1; cpu.idle does the same on others"
	kernelWithIOMax  = "a kernel with CONFIG_BLK_DEV_THROTTLING"
	loadBFQ          = "modprobe bfq"
	scratchOnDisk    = "name a directory on a disk with --scratch"
	bootWithVersion2 = "boot with control groups of version 2 alone: systemd.unified_cgroup_hierarchy=1"
)

// useBFQ is the remedy for a disk, MAJOR:MINOR.
func useBFQ(disk string) string {
	return "echo bfq > /sys/dev/block/" + disk + "/queue/scheduler, which changes what is measured in every arm"
}
