package inspect

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/internal/testneed"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.InitCommand:
			os.Exit(launch.Main(os.Args[2:]))
		case "as-user":
			h := HostAt("/", os.Args[2])
			json.NewEncoder(os.Stdout).Encode(struct {
				Root     bool
				Features map[string]environment.Support
			}{h.Root, h.Features})
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func TestHost(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	began := time.Now()
	h := HostAt("/", dir)
	t.Logf("%v", time.Since(began))
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("left in scratch: %v, %v", names, err)
	}
	if h.Groups == nil || h.Freezer == "" {
		t.Errorf("groups %v %s, freezer %q %s", h.Groups, h.GroupsWhy, h.Freezer, h.FreezeWhy)
	}
	for _, f := range environment.Features() {
		s := h.Has(f)
		t.Logf("%s: %+v", f, s)
		if s.Answer != environment.Yes {
			t.Errorf("%s: %+v", f, s)
		}
	}
	t.Log(h.Tools)
	if left, _ := h.Groups.Find(filepath.Dir(probeGroup())); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOrdinaryUser(t *testing.T) {
	uid, gid := testneed.Ordinary(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // /tmp/TestOrdinaryUser1/001
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("/proc/self/exe", "as-user", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var h environment.Host
	if err := json.Unmarshal(out, &h); err != nil {
		t.Fatal(err)
	}
	for _, f := range environment.Features() {
		s := h.Has(f)
		t.Logf("%s: %+v", f, s)
		if s.Answer == environment.Unknown || s.Answer == environment.No && (s.Reason == "" || s.Remedy == "") {
			t.Errorf("%s: %+v: want yes, or no with reason and remedy", f, s)
		}
	}
	for _, f := range []string{environment.FeatureNetwork, environment.FeatureNAT, environment.FeatureContainer} {
		if h.Has(f).Answer != environment.No {
			t.Errorf("%s: %+v: want no", f, h.Has(f))
		}
	}
}
