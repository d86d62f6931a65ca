package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
)

// A profile that the kernel does not have is found before anything starts; a kernel without AppArmor cannot have any.
func TestCheckProfile(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/module/apparmor/parameters/enabled":        "Y\n",
		"sys/kernel/security/apparmor/profiles":         "docker-default (enforce)\n/usr/bin/man (enforce)\nmy db (complain)\n",
		"off/sys/module/apparmor/parameters/enabled":    "N\n",
		"unseen/sys/module/apparmor/parameters/enabled": "Y\n",
	} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		below, profile, says string
		unsupported          bool
	}{
		{"", "", "", false}, {"", environment.Default, "", false}, {"", "docker-default", "", false}, {"", "/usr/bin/man", "", false},
		{"", "my db", "", false}, {"", environment.Unconfined, "", false}, {"unseen", "nosuch", "", false}, {"off", environment.Default, "", false},
		{"", "nosuch", "no profile nosuch", false}, {"", "docker", "no profile docker", false}, {"", "my", "no profile my", false},
		{"off", "docker-default", "no AppArmor", true}, {"none", "nosuch", "no AppArmor", true},
	} {
		err := CheckProfile(filepath.Join(root, c.below), environment.Container{AppArmor: c.profile})
		if c.says == "" {
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || hint.Of(err) == "" || errors.Is(err, facts.ErrUnsupported) != c.unsupported {
			t.Errorf("%+v: %v (%s)", c, err, hint.Of(err))
		}
	}
}
