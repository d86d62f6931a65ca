package isolation

// Sentences of the mechanisms for users, without errors.

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
