package handover

import "github.com/tarelab/tare/record"

// Reasons why a target cannot have a setting.
var (
	removed         = record.Say("take_setting_out")
	noValue         = record.Say("no_such_value")
	notInContainer  = record.Say("not_in_container")
	notInUnit       = record.Say("not_in_unit")
	notInPod        = record.Say("not_in_pod")
	notInKubelet    = record.Say("not_in_kubelet")
	notInServer     = record.Say("not_in_server")
	noIdle          = record.Say("docker_no_cpu_idle")
	noBurst         = record.Say("docker_no_cpu_burst")
	noHigh          = record.Say("docker_no_memory_high")
	needsVersion2   = record.Say("needs_groups_v2")
	noComposeKey    = record.Say("compose_no_key")
	noBurstOfUnits  = record.Say("systemd_no_cpu_burst")
	noQoS           = record.Say("no_qos_level")
	noSched         = record.Say("engines_no_policy")
	noUnitNetwork   = record.Say("unit_network")
	noUnitSocket    = record.Say("unit_socket")
	noUnitVolume    = record.Say("unit_volume")
	noClass         = record.Say("class_follows")
	inKubelet       = record.Say("in_kubelet")
	noClaimChange   = record.Say("claim_keeps_class")
	noPodSocket     = record.Say("pod_socket")
	noPodCPUs       = record.Say("pod_cpus")
	noPodShare      = record.Say("pod_share")
	noPodField      = record.Say("pod_no_field")
	noResize        = record.Say("resize_only")
	noResizeRemoval = record.Say("resize_keeps")
	noResizeClass   = record.Say("resize_class")
)

// What must be known before the lines are applied.
var (
	ownFlags         = record.Say("own_flags_first")
	withoutPorts     = record.Say("without_ports")
	copyData         = record.Say("copy_data_first")
	copyOnNode       = record.Say("copy_data_on_node")
	oldData          = record.Say("back_has_old_data")
	leastIOWeight    = record.Say("least_io_weight")
	shareSocket      = record.Say("share_socket")
	clientSocket     = record.Say("client_socket")
	composeDeploy    = record.Say("compose_deploy")
	otherDirectories = record.Say("option_directories")
	alterSystem      = record.Say("alter_system")
	quadletDropIns   = record.Say("quadlet_version")
	newPods          = record.Say("new_pods")
	resizeVersion    = record.Say("resize_version")
	resizeAdds       = record.Say("resize_adds")
	kustomization    = record.Say("without_kustomize")
	chartKeys        = record.Say("chart_keys")
	reservedCPUs     = record.Say("reserved_cpus")
)

// converted is for a weight that a runtime makes of what it is given.
func converted(weight string) record.Said { return record.Say("converted_weight", "weight", weight) }

// onFileSystem is for a directory whose file system is the remedy.
func onFileSystem(dir, name string) record.Said {
	return record.Say("on_file_system", "dir", dir, "type", name)
}
