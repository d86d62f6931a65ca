package record

import "slices"

// RemedySetting is one setting of a remedy. Setting is what was read back; this is what to set.
type RemedySetting struct {
	On    SettingOn  `json:"on"`
	Key   SettingKey `json:"key"`
	Value string     `json:"value"` // in base units; empty: the setting is removed, so that the default holds
}

// SettingOn is whose setting it is.
type SettingOn string

// The values of SettingOn.
const (
	OnLoad      SettingOn = "load"      // the container, pod or unit of the load and its server
	OnNeighbour SettingOn = "neighbour" // that of the neighbour
	OnServer    SettingOn = "server"    // the option file of the database
)

// SettingKey is what is set. The keys below are all.
type SettingKey string

// Keys of the control group of load or neighbour, named like the files of version 2, and of its threads.
const (
	KeyCPUIdle    SettingKey = "cpu.idle"      // 1; 0 undoes it
	KeyCPUWeight  SettingKey = "cpu.weight"    // 1 to 10000; the default is 100
	KeyCPUMax     SettingKey = "cpu.max"       // CPU seconds per second, decimal: 0.5
	KeyCPUBurst   SettingKey = "cpu.max.burst" // CPU seconds that a period can use in addition, per second of a period, decimal
	KeyCPUSet     SettingKey = "cpuset.cpus"   // list of CPUs: 0-3,6
	KeySched      SettingKey = "sched.policy"  // idle or batch; the default is other
	KeyIOWeight   SettingKey = "io.weight"     // 1 to 1000; the default is 100
	KeyIOBytes    SettingKey = "io.max.bps"    // bytes per second of reads, and as many of writes
	KeyMemoryHigh SettingKey = "memory.high"   // bytes
	KeyMemoryMax  SettingKey = "memory.max"    // bytes
	KeyQoSLevel   SettingKey = "cpu.qos_level" // -1; openEuler, version 1 of control groups
)

// Keys of a container or pod.
const (
	KeyNetwork  SettingKey = "network" // host; or bridge: clients use the container's address, no port is published
	KeyConnect  SettingKey = "connect" // socket: clients use the server's Unix socket, on a shared volume
	KeyVolume   SettingKey = "volume"  // of the data: bind, or a word of tare's --volume
	KeySeccomp  SettingKey = "seccomp" // unconfined
	KeyPodClass SettingKey = "pod.class"
	// Requests and limits of the pod's container: CPUs, decimal, and bytes.
	KeyPodCPURequest    SettingKey = "pod.cpu.request"
	KeyPodCPULimit      SettingKey = "pod.cpu.limit"
	KeyPodMemoryRequest SettingKey = "pod.memory.request"
	KeyPodMemoryLimit   SettingKey = "pod.memory.limit"
	KeyStorageClass     SettingKey = "pod.storage_class"
	KeyCPUManager       SettingKey = "kubelet.cpu_manager_policy" // static; none undoes it
)

// Keys of servers: the server's own names.
const (
	KeyBufferPool    SettingKey = "innodb_buffer_pool_size" // bytes
	KeyFlushMethod   SettingKey = "innodb_flush_method"
	KeyIOCapacity    SettingKey = "innodb_io_capacity" // operations per second
	KeySharedBuffers SettingKey = "shared_buffers"     // bytes
)

// SettingKeys lists all keys.
func SettingKeys() []SettingKey {
	return []SettingKey{
		KeyCPUIdle, KeyCPUWeight, KeyCPUMax, KeyCPUBurst, KeyCPUSet, KeySched, KeyIOWeight, KeyIOBytes, KeyMemoryHigh, KeyMemoryMax, KeyQoSLevel,
		KeyNetwork, KeyConnect, KeyVolume, KeySeccomp, KeyPodClass, KeyPodCPURequest, KeyPodCPULimit, KeyPodMemoryRequest, KeyPodMemoryLimit,
		KeyStorageClass, KeyCPUManager, KeyBufferPool, KeyFlushMethod, KeyIOCapacity, KeySharedBuffers,
	}
}

// Bytes says that the values of a key are bytes, or bytes per second.
func (k SettingKey) Bytes() bool {
	return slices.Contains([]SettingKey{KeyIOBytes, KeyMemoryHigh, KeyMemoryMax, KeyPodMemoryRequest, KeyPodMemoryLimit, KeyBufferPool, KeySharedBuffers}, k)
}
