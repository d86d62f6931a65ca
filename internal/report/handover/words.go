package handover

// Reasons why a target cannot have a setting.
const (
	removed         = "take the setting out where it stands now; the default holds then"
	noValue         = "the value has signs that no setting has"
	notInContainer  = "a setting of pods, kubelets or servers"
	notInUnit       = "a setting of containers, pods or servers"
	notInPod        = "a setting of servers"
	notInKubelet    = "a setting of the pod or server, not of the kubelet"
	notInServer     = "no option of this server"
	noIdle          = "Docker has no flag for cpu.idle; podman run --cgroup-conf=cpu.idle=1 has"
	noBurst         = "Docker has no flag for cpu.max.burst; podman run --cgroup-conf=cpu.max.burst has"
	noHigh          = "Docker has no flag for memory.high; --memory sets memory.max, which ends processes"
	needsVersion2   = "only with control groups of version 2"
	noComposeKey    = "Compose has no key for it"
	noBurstOfUnits  = "systemd has no setting for cpu.max.burst"
	noQoS           = "a file of openEuler's kernel that no program sets: write -1 into cpu.qos_level"
	noSched         = "engines set no scheduling policy; start the program with chrt --idle 0"
	noUnitNetwork   = "a unit has the host's network"
	noUnitSocket    = "a unit sees the sockets of the host; the option file of the server names its own"
	noUnitVolume    = "move the data directory, and name it in the option file of the server"
	noClass         = "the class follows from requests and limits"
	inKubelet       = "the kubelet's configuration has it"
	noClaimChange   = "a claim keeps its StorageClass: make a new claim of this class, and copy the data"
	noPodSocket     = "a socket needs client and server in one pod: add the client as a container, and share an emptyDir"
	noPodCPUs       = "Kubernetes gives a pod CPUs of its own only by the kubelet's static CPU manager: remedy cpu-manager"
	noPodShare      = "Kubernetes derives the share of CPU time from the CPU request: remedy pod-requests, for the load"
	noPodField      = "Kubernetes has no field for it"
	noResize        = "only CPU and memory of a running pod can change"
	noResizeRemoval = "a running pod can be given a request or limit, but none can be taken away"
	noResizeClass   = "the class of a running pod does not change"
)

// What must be known before the lines are applied.
const (
	ownFlags         = "put your own flags before these; the last one of a name holds"
	withoutPorts     = "leave out ports that you publish, and networks of your own"
	copyData         = "stop the service and copy the data into the directory first"
	copyOnNode       = "the pod must stay on this node; stop it and copy the data into the directory first"
	oldData          = "the way back has the data of before: dump what was written since, and load it again"
	leastIOWeight    = "engines take weights of I/O from 10; a smaller one was measured"
	shareSocket      = "give the client's container the same volume, and let it connect to the socket"
	clientSocket     = "clients connect to this socket instead of TCP"
	composeDeploy    = "if the service has deploy.resources.limits, change these instead"
	otherDirectories = "the file stands in the last directory that the server of Debian reads; elsewhere in the last !includedir of my.cnf"
	alterSystem      = "a value of ALTER SYSTEM holds instead: ALTER SYSTEM RESET takes it away"
	quadletDropIns   = "Podman 5 or later reads drop-ins of Quadlet"
	newPods          = "the pods start anew; a workload of another kind takes the same patch"
	resizeVersion    = "Kubernetes 1.33 or later"
	resizeAdds       = "the way back ends the pod, and its workload makes it anew: none can be taken away in place; a pod of class BestEffort takes none"
	kustomization    = "without the program kustomize: add path: tare-patch.yaml to the patches of kustomization.yaml"
	chartKeys        = "the chart defines its keys; these are the convention: helm show values CHART; lists are replaced"
	reservedCPUs     = "the policy static needs a reserve of CPU: kubeReserved, systemReserved or reservedSystemCPUs"
)

// converted is for a weight that a runtime makes of what it is given.
func converted(weight string) string {
	return "the runtime makes cpu.weight of the shares, each version by its own rule: it must read " + weight + ", else change the shares; with version 1 of control groups cpu/cpu.shares is the number itself"
}

// onFileSystem is for a directory whose file system is the remedy.
func onFileSystem(dir, name string) string { return dir + " must be on " + name }
