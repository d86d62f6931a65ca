package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// The profile as kernels with AppArmor write it. Files stand for a process's attr directory, because this
// kernel may have none.
func TestProfileSetting(t *testing.T) {
	for _, c := range []struct {
		name, file, text, wanted string
		setting, got             string // empty: none
		wrong                    bool
	}{
		{"its own file", "apparmor/current", "docker-default (enforce)\n", "docker-default", "apparmor", "docker-default", false},
		{"one file for all", "current", "docker-default (enforce)\n\x00", "docker-default", "apparmor", "docker-default", false},
		{"unconfined", "apparmor/current", "unconfined\n", "unconfined", "apparmor", "unconfined", false},
		{"another", "apparmor/current", "unconfined\n", "docker-default", "apparmor", "unconfined", true},
		{"whichever", "apparmor/current", "crun (complain)\n", "", "apparmor", "crun (complain)", false},
		{"SELinux", "current", "system_u:system_r:container_t:s0\x00", "", "security.label", "system_u:system_r:container_t:s0", false},
		{"none", "", "", "", "", "", false},
		{"none, but wanted", "", "", "docker-default", "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != "" {
				path := filepath.Join(dir, c.file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all, err := profileSetting(dir, c.wanted)
			if (err != nil) != c.wrong {
				t.Error(err)
			}
			switch {
			case c.setting == "" && len(all) > 0:
				t.Errorf("%+v", all)
			case c.setting != "" && (len(all) != 1 || all[0].Name != c.setting || all[0].Got != c.got):
				t.Errorf("%+v", all)
			}
		})
	}
}
