package probe

import (
	"errors"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/linux/perf"
	"github.com/tarelab/tare/record"
)

// Sentences of the probes for users, without errors: what each metric is, and why a value is missing.

// Help texts of the metrics, in the order of All.
const (
	helpCPUTime   = "CPU time of the arm"
	helpCPUUser   = "CPU time of the arm in user mode"
	helpCPUSystem = "CPU time of the arm in the kernel"

	helpCPUSteal   = "time in which a CPU of this host was ready and the hypervisor ran something else, all CPUs added up"
	helpCPUForeign = "CPU time of everything on this host but the arm, its neighbour and tare, threads of the kernel included"

	helpCPUCycles       = "cycles of the CPUs that worked for the arm"
	helpCPUInstructions = "instructions that the CPUs did for the arm"

	helpCPUPeriods          = "quota periods in which the arm ran"
	helpCPUThrottledPeriods = "quota periods in which the arm used its quota up"
	helpCPUThrottled        = "time that the arm's run queues were throttled by its quota, all CPUs added up"

	helpCPUWait  = "time that threads of the arm were ready and waited for a CPU, all threads added up"
	helpCPUTurns = "how often the threads of the arm were scheduled on a CPU"

	helpSwitchesVoluntary   = "times that a thread of the arm gave its CPU up to wait for something"
	helpSwitchesInvoluntary = "times that a thread of the arm was taken off its CPU"

	helpFaultsMinor = "page faults that the kernel met from memory"
	helpFaultsMajor = "page faults that had to read from a disk"

	helpMemoryRefaulted = "memory that was read again after the kernel had reclaimed it, file pages and swap"
	helpMemoryScanned   = "memory that the kernel looked at for something to reclaim"
	helpMemoryReclaimed = "memory that the kernel took away from the arm"
	helpMemoryLimitHits = "times that the arm was about to go beyond its memory limit (max or high)"
	helpMemoryOOMKills  = "processes of the arm that the out-of-memory killer ended"
	helpMemoryUsed      = "memory that is charged to the arm, page cache included"

	helpIORead    = "bytes that the arm read from disks"
	helpIOWritten = "bytes that the arm wrote to disks"
	helpIOReads   = "read operations of the arm on disks"
	helpIOWrites  = "write operations of the arm on disks"

	helpDiskRead    = "bytes read from all disks of the host"
	helpDiskWritten = "bytes written to all disks of the host"
	helpDiskReads   = "read operations on all disks of the host"
	helpDiskWrites  = "write operations on all disks of the host"
	helpDiskFlushes = "cache flushes sent to all disks of the host, as a sync sends them"

	helpDeviceReads     = "read requests of anybody on the device of the arm's data"
	helpDeviceWrites    = "write requests of anybody on the device of the arm's data"
	helpDeviceFlushes   = "cache flushes on the device of the arm's data"
	helpDeviceReadTime  = "time that reads took on the device of the arm's data, with its queue"
	helpDeviceWriteTime = "time that writes took on the device of the arm's data, with its queue"
	helpDeviceFlushTime = "time that flushes took on the device of the arm's data"
	helpDeviceInflight  = "requests under way on the device of the arm's data, when a window ends"

	helpNetHandled  = "packets that the network softirq of the host handled; a veth or a bridge makes one packet several"
	helpNetDropped  = "packets that the host dropped because the backlog of a CPU was full"
	helpNetSqueezed = "times that the network softirq of the host ran out of its turn with packets left"

	helpNetRetransmits = "TCP segments sent again in the network namespaces of the arm"

	helpNFSRequests    = "requests of any kind to the NFS server of the arm's data"
	helpNFSRetransmits = "requests that were sent to the NFS server once more"
	helpNFSSent        = "bytes sent to the NFS server, with all headers of requests"
	helpNFSReceived    = "bytes received from the NFS server, with all headers of answers"

	helpCephWaiting  = "requests that wait for the answer of a store of the Ceph cluster, when a window ends"
	helpCephHomeless = "requests for which the Ceph cluster has no store that is up, when a window ends"

	helpSelfCPU       = "CPU time of tare"
	helpSelfThreadCPU = "CPU time of the thread of tare that controls the run"
	helpSelfMemory    = "resident memory of tare"
	helpSelfMaxMemory = "largest resident memory of tare so far"
)

// Waits of a thread, as the help texts name them.
const (
	waitCPU    = "waited for a CPU"
	waitMemory = "waited for memory (reclaim, refault, swap)"
	waitIO     = "waited for block input or output"
)

func helpPressureSome(wait string) string {
	return "time in which at least one thread of the arm " + wait
}

func helpPressureFull(wait string) string {
	return "time in which every thread of the arm that had work " + wait
}

// Kinds of requests: op is the kernel's name.

func helpNFSOf(op string) string { return op + " requests to the NFS server" }
func helpNFSQueue(op string) string {
	return "time that " + op + " requests waited before they were sent"
}
func helpNFSRTT(op string) string {
	return "time from sending " + op + " requests to their answers: wire and server"
}
func helpNFSExecute(op string) string {
	return "time that " + op + " requests took in all, with the client's own part"
}
func helpCephOf(op string) string { return op + " requests to the Ceph file system of the arm's data" }
func helpCephTime(op string) string {
	return "time until " + op + " requests to the Ceph file system were answered"
}

// Names of numbers, for lacks.
const (
	totalOfSome = "total of some"
	totalOfFull = "total of full"
)

// nameDevice is the name of the probe device.
const nameDevice = "device of the data"

// Why a value is missing.
var (
	noneLeft          = record.Say("no_process_left")
	noGroup           = record.Say("arm_has_no_group")
	noGroupOfV2       = record.Say("no_group_of_v2")
	noReclaimInV1     = record.Say("no_reclaim_in_v1")
	noRequestsOfImage = record.Say("no_requests_of_image")
	noFlushes         = record.Say("no_flushes_of_device")
	moreThanHost      = record.Say("more_cpu_than_host")
	noReadingAtEnd    = record.Say("no_reading_at_end")
	notRead           = record.Say("not_read")
	ofWholeHost       = record.Say("of_whole_host")
)

func fileError(file string, err error) record.Said { return record.InProse(file + ": " + err.Error()) }

// unread is the error of a probe that cannot be opened, as a sentence.
type unread struct{ why record.Said }

func (u unread) Error() string { return said.English(u.why) }

// whyOf is the sentence of an error, or its text with its remedy.
func whyOf(err error) record.Said {
	var u unread
	if remedy := hint.Of(err); remedy != "" {
		return record.InProse(err.Error() + ": " + remedy)
	} else if errors.As(err, &u) {
		return u.why
	} else if errors.Is(err, perf.ErrNone) {
		return record.Say("no_cpu_counters")
	}
	return record.InProse(err.Error())
}
