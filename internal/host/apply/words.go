package apply

import (
	"cmp"
	"fmt"
)

// TargetForms are the words for a target.
const TargetForms = "unit:NAME, cgroup:PATH, container:NAME (docker:NAME, podman:NAME) or pod:NAMESPACE/NAME[/CONTAINER]"

const (
	seeContainers = "docker ps or podman ps, as the user who started it"
	seeGroups     = "name a path of /proc/PID/cgroup: cgroup:PATH"
	seeUnits      = "systemctl list-units; a user's own units: run tare as that user"
	otherTargets  = "cgroup:PATH or container:NAME need none"
	noDeadline    = "leave the deadline out, and take it back with tare advise --undo"
	startIt       = "start it first"
	byHand        = "tare advise DIR -v prints the lines to apply it by hand"
	nothingToDo   = "tare doctor lists what tare has set"
	planAgain     = "run the command again"
	notRecorded   = "nothing is changed; a file of the unit may win; " + byHand
	notInKernel   = "nothing is changed; " + byHand
	asOwner       = "run tare as root, or as the user who owns it"
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
	noPodman4     = "podman update of version 4 keeps no record, and does not take a limit back"
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

func seePods(namespace string) string { return "kubectl get pods --namespace " + namespace }

// Errors of targets.
const (
	noGroup     = "no control group %s"
	rootGroup   = "cgroup:/ is the root, which has no settings"
	noFile      = "this kernel gives the group no such file"
	noEmptyList = "the kernel takes no empty list while processes are in the group"
	noSystemd   = "systemd does not run on this host"
	notRunning  = "the container does not run"
	otherNode   = "the pod is on another node"
)

func bothEngines(name string) string { return "Docker and Podman both have a container " + name }

func ownedGroup(path string) string {
	return fmt.Sprintf("control group %s has an owner, who would not know of the change", path)
}

func wouldKill(used string) string {
	return used + " bytes are in use, and the kernel would kill processes"
}

func wins(file string) string { return file + " has it already and would win over tare's" }

func hasThem(t Target) string { return t.String() + " has these settings already" }

// Errors of a step: now is the value that its owner shows.

func changed(s Step, now string) string {
	return fmt.Sprintf("%s of %s is %s, and tare had set %s: somebody else changed it, so it stays as it is",
		s.Name, s.Target, shown(now), shown(s.To))
}

func changing(s Step, now string) string {
	return fmt.Sprintf("%s of %s was %s and is %s now: somebody else changes it", s.Name, s.Target, shown(s.From), shown(now))
}

func notTaken(s Step, but string) string {
	return fmt.Sprintf("%s of %s did not take: set to %s, %s", s.Name, s.Target, shown(s.To), but)
}
