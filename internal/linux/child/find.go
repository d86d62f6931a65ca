package child

import (
	"os/exec"
	"path/filepath"
)

// Find finds a program in PATH, or in root's directories of programs, which not every user has
// in PATH.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, name))
		}
	}
	return path, err
}
