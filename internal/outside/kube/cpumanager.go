package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CPUManager is the state of a kubelet's CPU manager, as its checkpoint has it.
type CPUManager struct {
	Policy string `json:"policyName"` // none or static
	// Shared are the CPUs of all containers that have none of their own, in the
	// kernel's list format; empty: all.
	Shared string `json:"defaultCpuSet"`
	// Exclusive are those of a container alone, by the pod's UID and its name.
	Exclusive map[string]map[string]string `json:"entries"`
}

// StaticPolicy gives whole CPUs to containers of Guaranteed pods that ask for
// a whole number of them.
const StaticPolicy = "static"

// ReadCPUManager reads the checkpoint below a kubelet's root directory. A kubelet
// without one has no CPU manager.
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
