package inspect

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/environment"
)

// appArmor is whether the kernel confines by profiles; root is "/" outside tests.
func appArmor(root string) environment.Support {
	b, err := os.ReadFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"))
	if err != nil || strings.TrimSpace(string(b)) != "Y" {
		return environment.Unsupported("this kernel runs without AppArmor: no container is under a profile",
			"boot with lsm=...,apparmor where the kernel has it, or leave apparmor out")
	}
	return environment.Supported()
}

// profiles are those that the kernel has loaded, "docker-default (enforce)" on a line
// each; nil where this user may not know. root is "/" outside tests.
func profiles(root string) []string {
	b, err := os.ReadFile(filepath.Join(root, "sys/kernel/security/apparmor/profiles"))
	if err != nil {
		return nil
	}
	all := []string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if mode := strings.LastIndex(line, " ("); mode > 0 { // a name may hold spaces and brackets
			line = line[:mode]
		}
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}
