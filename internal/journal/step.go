package journal

import (
	"fmt"

	"github.com/tarelab/tare/internal/ceph"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Step is one change of the host as data: what undoes it. Make one with the
// functions below.
type Step struct {
	Kind string `json:"kind"`
	// Path of the mount or directory; of the program of a runtime, and of
	// the configuration of a Ceph cluster.
	Path string `json:"path,omitempty"`
	// Value is the name of an engine, or the context of a kubeconfig.
	Value string `json:"value,omitempty"`
	// Plan of a group.
	Plan *cgroup.Plan `json:"plan,omitempty"`
	// Process id and its start time, field 22 of /proc/PID/stat.
	Pid   int    `json:"pid,omitempty"`
	Start uint64 `json:"start_ticks,omitempty"`
	// Root directory and id of a container; address and name of one of an
	// engine, whose own name is Value. ID is also a Ceph image, POOL/NAME. Of a
	// namespace Root is the kubeconfig, Value the context and ID the name; of a
	// containerd's image Root is its address. Of a share Root is SERVER:/PATH, Value
	// the options and ID the name of the directory.
	Root string `json:"root,omitempty"`
	ID   string `json:"id,omitempty"`
}

// The kinds of a Step.
const (
	kindGroup     = "cgroup"
	kindMount     = "mount"
	kindDirectory = "directory"
	kindRuntime   = "runtime"
	kindProcess   = "process"
	kindContainer = "container"
	kindClass     = "resctrl" // of earlier versions
	kindEngine    = "engine"
	kindImage     = "rbd"
	kindMapping   = "rbd-map"
	kindNamespace = "namespace"
	kindPodImage  = "image"
	kindPods      = "pods"
)

// Group undoes Tree.Make: kills and removes what its Plan names, of a group whose path begins
// with tare-<run> or tare-<run>-.
func Group(p cgroup.Plan) Step { return Step{Kind: kindGroup, Plan: &p} }

// Mount unmounts path lazily. An element of path is tare-<run> or begins with tare-<run>-.
func Mount(path string) Step { return Step{Kind: kindMount, Path: path} }

// Directory removes a directory with all in it, but never across a mount
// point. Its base name is tare-<run> or begins with tare-<run>-.
func Directory(path string) Step { return Step{Kind: kindDirectory, Path: path} }

// Runtime ends every process of this user that has a directory as its XDG_RUNTIME_DIR,
// and removes it as Directory does.
func Runtime(path string) Step { return Step{Kind: kindRuntime, Path: path} }

// Process kills a process, if it is still the one that it was. The process
// lives already: start it so that it ends with tare in between.
func Process(pid int) (Step, error) {
	start, err := startTicks(pid)
	if err != nil {
		return Step{}, fmt.Errorf("journal: %w", err)
	}
	return Step{Kind: kindProcess, Pid: pid, Start: start}, nil
}

// Container kills and deletes an OCI container: the runtime's program, which is called runc or
// crun, its --root directory, in one of the run, and the container's id, which begins with
// tare-<run>-.
func Container(runtime, root, id string) Step {
	return Step{Kind: kindContainer, Path: runtime, Root: root, ID: id}
}

// Engine ends and removes a container of an engine with all that was made for
// it: the engine's name and where it is, the container's name. That begins with
// tare-<run>-, and the container carries the run's label.
func Engine(engine, host, name string) Step {
	return Step{Kind: kindEngine, Value: engine, Root: host, ID: name}
}

// Image removes an image from a pool of a Ceph cluster. Its name has -tare-<run>-
// in it.
func Image(i ceph.Image) Step { return Step{Kind: kindImage, Path: i.Config, ID: i.String()} }

// Mapping takes the devices away as which the kernel shows an image of a Ceph cluster.
func Mapping(i ceph.Image) Step {
	return Step{Kind: kindMapping, Path: i.Config, ID: i.String()}
}
