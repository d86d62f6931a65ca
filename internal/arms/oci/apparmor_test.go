package oci

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// profile denies a path that no process of the test needs.
const profile = `profile tare-oci-test flags=(attach_disconnected,mediate_deleted) {
  network,
  capability,
  file,
  umount,
  signal,
  ptrace,
  unix,
  deny /proc/sysrq-trigger rwklx,
}
`

// loadProfile loads the profile until the test ends.
func loadProfile(t *testing.T) string {
	t.Helper()
	parser := testneed.Tool(t, "apparmor_parser")
	file := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(file, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(parser, "--replace", "--skip-cache", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(parser, "--remove", file).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	return "tare-oci-test"
}

// TestVMAppArmor checks that a container has the chosen profile, and that a profile that is not loaded is
// refused by name.
func TestVMAppArmor(t *testing.T) {
	testneed.Long(t, "vm") // a kernel that runs AppArmor
	testneed.Root(t)
	name := loadProfile(t)
	for _, runtime := range Runtimes() {
		t.Run(runtime, func(t *testing.T) {
			under := func(profile string) func(*environment.Spec) {
				return func(s *environment.Spec) { s.Container.AppArmor = profile }
			}
			a := launchtest.Open(t, Container{Runtime: runtime}, under(name))
			p, _ := launchtest.Start(t, a, environment.Process{})
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/attr/apparmor/current", p.Pid()))
			if got := strings.TrimSpace(string(text)); err != nil || got != name+" (enforce)" {
				t.Errorf("under %q, %v", got, err)
			}
			all, err := a.Settings()
			if want := (record.Setting{Name: "apparmor", Wanted: name, Got: name}); err != nil || !slices.Contains(all, want) {
				t.Errorf("%+v, %v", all, err)
			}
			a = launchtest.Open(t, Container{Runtime: runtime}, under("tare-no-such-profile"))
			_, err = a.Start(t.Context(), environment.Process{Args: []string{launchtest.Look}})
			if err == nil || !strings.Contains(err.Error(), `AppArmor profile "tare-no-such-profile"`) {
				t.Errorf("a profile that nobody loaded: %v", err)
			}
		})
	}
}
