package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Resources are the resource settings of a container that the engine can update while it runs. Zero is
// the engine's default.
type Resources struct {
	NanoCpus            int64 // CPUs, times 1e9; excludes CPUQuota
	CPUQuota, CPUPeriod int64 // microseconds
	CPUShares           int64 // in the unit of version 1; the default is 1024
	CPUSet              string
	Memory, MemorySwap  int64 // bytes; MemorySwap includes Memory, -1 is no limit
	BlkioWeight         int64
	ID                  string // of the container
	Pid                 int
	Running             bool
}

// Resources inspects a container; ErrNone: there is none.
func (e Engine) Resources(ctx context.Context, name string) (Resources, error) {
	out, err := e.call(ctx, "container", "inspect", name)
	if err != nil {
		return Resources{}, err
	}
	var all []struct {
		ID    string `json:"Id"`
		State struct {
			Running bool
			Pid     int
		}
		HostConfig struct {
			NanoCpus, CpuQuota, CpuPeriod, CpuShares int64
			CpusetCpus                               string
			Memory, MemorySwap, BlkioWeight          int64
		}
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		return Resources{}, fmt.Errorf("%s inspect: %w in %q", e.Name(), err, firstLine(out))
	}
	h, s := all[0].HostConfig, all[0].State
	return Resources{
		NanoCpus: h.NanoCpus, CPUQuota: h.CpuQuota, CPUPeriod: h.CpuPeriod, CPUShares: h.CpuShares, CPUSet: h.CpusetCpus,
		Memory: h.Memory, MemorySwap: h.MemorySwap, BlkioWeight: h.BlkioWeight, ID: all[0].ID, Pid: s.Pid, Running: s.Running,
	}, nil
}

// Update changes settings of a running container: flags of the engine's command update.
func (e Engine) Update(ctx context.Context, name string, flags ...string) error {
	_, err := e.call(ctx, append(append([]string{"update"}, flags...), name)...)
	return err
}

// Here are the engines of this host whose programs are in PATH.
func Here() (all []Engine) {
	if _, err := exec.LookPath(docker.name); err == nil {
		if e, err := NewDocker(""); err == nil {
			all = append(all, e)
		}
	}
	if path, err := exec.LookPath(podman.name); err == nil {
		all = append(all, NewPodman(path))
	}
	return all
}
