package cgroup

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// OfContainer finds the directory of a container by its id, in the hierarchy of version 1 that has a controller of
// containers, or in version 2.
func (t *Tree) OfContainer(id string) (string, error) {
	root := t.V2
	for _, c := range []string{"cpu", "memory", "pids"} {
		if t.V1[c] != "" {
			root = t.V1[c]
			break
		}
	}
	found := ""
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
			return fs.SkipDir
		case err != nil:
			return err
		case d.IsDir() && isContainer(d.Name(), id):
			found = path
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && found == "" {
		err = errors.New("it has no group below " + root)
	}
	return found, err
}

// isContainer says whether a group has the name of a container: its id with the driver cgroupfs, and with that of
// systemd RUNTIME-ID.scope, where RUNTIME is cri-containerd, crio, docker or libpod. conmon, the monitor of CRI-O and
// Podman, has a group of its own beside that, RUNTIME-conmon-ID.scope.
func isContainer(name, id string) bool {
	if id == "" {
		return false
	}
	runtime, ok := strings.CutSuffix(name, "-"+id+".scope")
	return name == id || ok && runtime != "" && runtime != "conmon" && !strings.HasSuffix(runtime, "-conmon")
}
