package kube

import (
	"os"
	"path/filepath"
	"testing"
)

// The files are those of a kubelet of 1.34.
func TestReadCPUManager(t *testing.T) {
	dir := t.TempDir()
	if m, err := ReadCPUManager(dir); err != nil || m.Policy != "none" {
		t.Errorf("no file: %+v %v", m, err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "cpu_manager_state"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"policyName":"static","defaultCpuSet":"0,2-3","entries":{"8c2a":{"load":"1"}},"checksum":1353318690}`)
	if m, err := ReadCPUManager(dir); err != nil || m.Policy != StaticPolicy || m.Shared != "0,2-3" || m.Exclusive["8c2a"]["load"] != "1" {
		t.Errorf("%+v %v", m, err)
	}
	write(`{"policyName":"none","defaultCpuSet":"","checksum":1353318690}`)
	if m, err := ReadCPUManager(dir); err != nil || m.Policy != "none" || m.Exclusive["8c2a"] != nil {
		t.Errorf("%+v %v", m, err)
	}
	write(`{`)
	if _, err := ReadCPUManager(dir); err == nil {
		t.Error("half a file is one")
	}
}
