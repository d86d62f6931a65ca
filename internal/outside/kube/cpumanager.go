package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CPUManager is the checkpoint of a kubelet's CPU manager.
type CPUManager struct {
	Policy string `json:"policyName"` // none or static
	// Shared are the CPUs of all containers without exclusive CPUs, in the kernel's list
	// format; empty: all.
	Shared string `json:"defaultCpuSet"`
	// Exclusive are exclusive CPUs, by the pod's UID and the container's name.
	Exclusive map[string]map[string]string `json:"entries"`
}

// StaticPolicy gives exclusive CPUs to containers of Guaranteed pods that request a whole
// number of CPUs.
const StaticPolicy = "static"

// ReadCPUManager reads the checkpoint below a kubelet's root directory. Without a file the
// policy is none.
func ReadCPUManager(root string) (CPUManager, error) {
	m := CPUManager{Policy: "none"}
	b, err := os.ReadFile(filepath.Join(root, "cpu_manager_state"))
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return m, fmt.Errorf("read the state of the kubelet's CPU manager: %w", err)
	}
	return m, nil
}
