package handover

// Reasons why a target cannot have a setting.
const (
	removed        = "leave the setting out where it stands now: the default holds then"
	notInContainer = "a setting of pods and kubelets"
	notInUnit      = "a setting of containers and pods"
	notInPod       = "Kubernetes has no field for it; its classes and requests set what protects a pod"
	notInKubelet   = "a setting of the pod, not of the kubelet"
	notInServer    = "no variable of this server"
	noIdle         = "Docker has no flag for it; podman run --cgroup-conf=cpu.idle=1 has"
	noBurst        = "Docker has no flag for it; podman run --cgroup-conf=cpu.max.burst has"
	noHigh         = "Docker has no flag for memory.high; --memory sets memory.max, which ends processes"
	noBurstOfUnits = "systemd has no setting for cpu.max.burst"
	noQoS          = "a file of openEuler's kernel that no program sets: write -1 into cpu.qos_level"
	noSched        = "engines set no scheduling policy; start the program with chrt --idle 0"
	noBridge       = "leave --publish out; clients use the address of the container"
	noSocket       = "mount the directory of the server's socket into the client's container"
	noUnitNetwork  = "a unit has the host's network"
	noUnitVolume   = "move the data directory, and name it in the option file of the server"
	noClass        = "the class follows from requests and limits; Guaranteed: limits equal to requests, of CPU and memory"
	noClaimChange  = "a claim keeps its StorageClass: make a new claim of this class, and copy the data"
	newState       = "# then: systemctl stop kubelet; rm /var/lib/kubelet/cpu_manager_state; systemctl start kubelet"
	composeRenamed = "Compose has no key for it"
)
