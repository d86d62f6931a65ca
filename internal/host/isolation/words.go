package isolation

import "github.com/tarelab/tare/record"

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

// Remedies.
var (
	moreCPUs         = record.Say("more_cpus")
	kernelWithIdle   = record.Say("kernel_with_idle")
	kernelWithQuota  = record.Say("kernel_with_quota")
	kernelWithQoS    = record.Say("kernel_with_qos")
	kernelWithIOMax  = record.Say("kernel_with_io_max")
	scratchOnDisk    = record.Say("scratch_on_disk")
	bootWithVersion2 = record.Say("boot_with_version_2")
)
