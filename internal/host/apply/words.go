package apply

import "cmp"

// TargetForms are the words for a target.
const TargetForms = "unit:NAME, cgroup:PATH, container:NAME (docker:NAME, podman:NAME) or pod:NAMESPACE/NAME[/CONTAINER]"

const (
	byHand      = "tare advise DIR -v prints the lines to apply it by hand"
	nothingToDo = "tare doctor lists what tare has set"
	planAgain   = "run the command again"
	notRecorded = "nothing is changed; a file of the unit may win; " + byHand
	notInKernel = "nothing is changed; " + byHand
	asOwner     = "run tare as root, or as the user who owns it"
)

// Reasons why a setting is not applied to something that runs.
const (
	noNetwork     = "a network is chosen when the container or pod starts"
	noConnect     = "clients choose the socket when they start"
	noVolume      = "volumes are chosen at the start, and data would have to move"
	noSeccomp     = "a seccomp filter cannot be taken from a process that runs"
	noClass       = "the QoS class of a pod cannot change while it runs"
	noStorage     = "a claim keeps its storage class"
	noKubelet     = "the kubelet reads its policy when it starts"
	noServer      = "it is a setting of the server, which may need a restart"
	noSched       = "a policy belongs to threads, and threads that start meanwhile would be missed when it is taken back"
	noQoSBack     = "the kernel does not raise cpu.qos_level again"
	noDevice      = "the advice does not name the device, whose number the limit needs"
	noUpdate      = "the engine cannot update it while the container runs"
	noRemoveLimit = "the engine cannot remove this limit again while the container runs"
	noPodman4     = "Podman 4 keeps no record of podman update and does not take it back"
	noUnitBurst   = "systemd has no property for it"
	noResizeOff   = "an in-place resize cannot add or remove an amount, only change it"
	noResizeKey   = "an in-place resize changes CPU and memory only"
	noRestart     = "its resizePolicy would restart the container"
)

func orByHand(remedy string) string { return cmp.Or(remedy, byHand) }

// shown is a value for people; empty is the default.
func shown(value string) string { return cmp.Or(value, "not set") }

func forgetIt(run string) string {
	return "set it by hand, or drop tare's entry: tare advise --undo " + run + " --forget"
}

// Titles of the counters of a target.
const (
	titleUsed      = "CPU used"
	titleWait      = "CPU wait"
	titleThrottled = "throttled"
	titleMemory    = "memory wait"
	titleIO        = "I/O wait"
)

// Reasons why a counter has no value.
const (
	noPressureGroup = "the target has no control group of version 2, which has pressure"
	noPressure      = "this kernel has no pressure of groups"
	noCPUGroup      = "the target has no cpu control group"
)

func noCounter(key string) string { return "cpu.stat has no " + key }
