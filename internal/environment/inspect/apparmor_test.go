package inspect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/environment"
)

func TestAppArmor(t *testing.T) {
	for text, want := range map[string]environment.Answer{"Y\n": environment.Yes, "N\n": environment.No, "": environment.No} {
		root := t.TempDir()
		dir := filepath.Join(root, "sys/module/apparmor/parameters")
		if text != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "enabled"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s := appArmor(root); s.Answer != want || want == environment.No && s.Remedy == "" {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestSELinux(t *testing.T) {
	root := t.TempDir()
	if s := seLinux(root); s.Answer != environment.No || s.Remedy == "" {
		t.Errorf("%+v", s)
	}
	if err := os.MkdirAll(filepath.Join(root, "sys/fs/selinux"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sys/fs/selinux/enforce"), []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := seLinux(root); s.Answer != environment.Yes {
		t.Errorf("permissive: %+v", s)
	}
}
