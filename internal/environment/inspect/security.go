package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/environment"
)

// securityModule says whether the kernel runs AppArmor or SELinux, enforced or not; root
// is "/" outside tests.
func securityModule(root, name string) environment.Support {
	file := map[string]string{"AppArmor": "sys/module/apparmor/parameters/enabled", "SELinux": "sys/fs/selinux/enforce"}[name]
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil || name == "AppArmor" && strings.TrimSpace(string(b)) != "Y" {
		word := strings.ToLower(name)
		return environment.Unsupported("this kernel runs without "+name, fmt.Sprintf("boot with lsm=...,%s where the kernel has it, or leave %[1]s out", word))
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
