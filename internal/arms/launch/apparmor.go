package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
)

// CheckProfile returns an error if the kernel below root has no AppArmor profile of that name. It is nil where this
// user cannot see the profiles.
func CheckProfile(root string, c environment.Container) error {
	name := c.Profile()
	if name == "" {
		return nil
	}
	on, err := os.ReadFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"))
	if err != nil || strings.TrimSpace(string(on)) != "Y" {
		return hint.New(fmt.Errorf("%w: apparmor: %s: this kernel has no AppArmor, or it is off", facts.ErrUnsupported, name), "leave apparmor out")
	}
	text, err := os.ReadFile(filepath.Join(root, "sys/kernel/security/apparmor/profiles"))
	if err != nil || name == environment.Unconfined {
		return nil
	}
	for line := range strings.Lines(string(text)) { // NAME (MODE)
		if loaded, _, _ := strings.Cut(strings.TrimSpace(line), " ("); loaded == name {
			return nil
		}
	}
	return hint.New(fmt.Errorf("apparmor: the kernel has no profile %s", name),
		"load it: apparmor_parser -r FILE; aa-status lists the profiles")
}
