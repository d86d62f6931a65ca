package isolation

import "github.com/tarelab/tare/record"

// Sentences of the mechanisms for users, without errors.

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
