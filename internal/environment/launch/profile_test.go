package launch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/environment"
)

// The profile as kernels with AppArmor write it, which this one may not be: files
// stand in for a process's attr directory.
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

// The label as kernels with SELinux write it.
func TestLabelSetting(t *testing.T) {
	dir := t.TempDir()
	spc := environment.Label{Type: "spc_t"}
	if all, err := labelSetting(dir, environment.Label{}); err != nil || len(all) > 0 {
		t.Errorf("not asked for: %v %v", all, err)
	}
	if all, err := labelSetting(dir, spc); err == nil {
		t.Errorf("no label: %v", all)
	}
	for text, wrong := range map[string]bool{"system_u:system_r:spc_t:s0\x00": false, "system_u:system_r:container_t:s0:c1,c2\x00": true, "docker-default (enforce)\n": true, "": true} {
		if err := os.WriteFile(filepath.Join(dir, "current"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := labelSetting(dir, spc)
		if (err != nil) != wrong || len(all) != 1 || all[0].Name != "selinux" || all[0].Wanted != "spc_t" {
			t.Errorf("%q: %+v %v", text, all, err)
		}
	}
}
