package inspect

import (
	"os"
	"path/filepath"
	"slices"
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
		if s := securityModule(root, "AppArmor"); s.Answer != want || want == environment.No && s.Remedy == "" {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestSELinux(t *testing.T) {
	root := t.TempDir()
	if s := securityModule(root, "SELinux"); s.Answer != environment.No || s.Remedy == "" {
		t.Errorf("%+v", s)
	}
	if err := os.MkdirAll(filepath.Join(root, "sys/fs/selinux"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sys/fs/selinux/enforce"), []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := securityModule(root, "SELinux"); s.Answer != environment.Yes {
		t.Errorf("permissive: %+v", s)
	}
}

func TestProfiles(t *testing.T) {
	root := t.TempDir()
	if got := profiles(root); got != nil {
		t.Errorf("%q without a list, want that nobody could tell", got)
	}
	dir := filepath.Join(root, "sys/kernel/security/apparmor")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"": {},
		"docker-default (enforce)\n/usr/bin/man (complain)\na (b) c (enforce)\n": {"docker-default", "/usr/bin/man", "a (b) c"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "profiles"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := profiles(root); got == nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
