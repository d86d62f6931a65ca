package identity

import (
	"fmt"
	"os"
)

// Own returns the path of this process's program. It is an error with ErrReplaced if the path stands for another
// file than the one that this process executes.
func Own() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	executed, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	now, err := os.Stat(path)
	switch {
	case err != nil:
		return "", replaced(path, err.Error())
	case !os.SameFile(executed, now):
		return "", replaced(path, "it is another file now")
	}
	return path, nil
}
