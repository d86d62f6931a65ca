package enter

import (
	"os"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/linux/proc"
)

// place is where this process is.
type place int

// The places.
const (
	// outsideContainers is the zero value: nothing shows that this process is in a container.
	outsideContainers place = iota
	// seesHost is a container with the process IDs of its host, as of docker run --pid=host. With
	// --privileged the host can be entered.
	seesHost
	// enclosed is a container with process IDs of its own.
	enclosed
)

// hostPIDs is the PID namespace of a machine: PROC_PID_INIT_INO of the kernel, the same since Linux 3.8.
const hostPIDs = "pid:[4026531836]"

// where says where this process is. A chroot, and a mount namespace with the root directory of the host, are
// on the host. Files such as /.dockerenv prove nothing: virtual machines are made from images of containers.
func where(f proc.FS) place {
	switch ns, err := os.Readlink(f.Path("proc/self/ns/pid")); {
	case err != nil:
		return outsideContainers
	case ns != hostPIDs:
		return enclosed
	}
	own, ownErr := f.Text("proc/self/mountinfo")
	first, firstErr := f.Text("proc/1/mountinfo")
	if ownErr != nil || firstErr != nil || sameNamespace(own, first) {
		return outsideContainers
	}
	a, b := rootMount(own), rootMount(first)
	if a == nil || b == nil || a.Major == b.Major && a.Minor == b.Minor && a.Root == b.Root {
		return outsideContainers
	}
	return seesHost
}

// sameNamespace says whether two mountinfo files are of one mount namespace: a mount's ID, the first field of
// its line, is unique on the machine.
func sameNamespace(a, b []byte) bool {
	of := mountIDs(b)
	return slices.ContainsFunc(mountIDs(a), func(id string) bool { return slices.Contains(of, id) })
}

func mountIDs(text []byte) (ids []string) {
	for line := range strings.Lines(string(text)) {
		id, _, _ := strings.Cut(line, " ")
		ids = append(ids, id)
	}
	return ids
}

// rootMount is the mount that is the root directory; nil: the root directory is no mount, or the text is not
// understood.
func rootMount(text []byte) (root *proc.Mount) {
	all, err := proc.ParseMountInfo(text)
	if err != nil {
		return nil
	}
	for i := range all {
		if all[i].Point == "/" {
			root = &all[i] // a later mount covers an earlier one
		}
	}
	return root
}
