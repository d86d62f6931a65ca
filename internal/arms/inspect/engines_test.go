package inspect

import (
	"context"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/engine"
)

// TestDockerIsNotThere checks reason and remedy of each way in which Docker can be missing.
func TestDockerIsNotThere(t *testing.T) {
	dir := t.TempDir()
	silent := filepath.Join(dir, "s")
	l, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close() // the file stays, and nobody listens
	for _, c := range []struct{ name, host, reason, remedy string }{
		{"no socket", "unix://" + filepath.Join(dir, "none"), "there is no " + dir, "DOCKER_HOST"},
		{"nobody listens", "unix://" + silent, "does not answer", "systemctl start docker"},
		{"another machine", "tcp://192.0.2.1:2375", "another machine", "DOCKER_HOST"},
		{"no address", "nonsense", "", "DOCKER_HOST"},
	} {
		t.Setenv("DOCKER_HOST", c.host)
		got := docker(context.Background(), false)
		if got.Answer != facts.No || !strings.Contains(said.English(got.Reason), c.reason) || !strings.Contains(said.English(got.Remedy), c.remedy) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestEnginesOfOrdinaryUsers(t *testing.T) {
	if got := docker(context.Background(), true); got.Answer != facts.No || said.English(got.Remedy) != "run as root" {
		t.Errorf("%+v", got)
	}
}

func TestPodmanIsNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if got := podman(); got.Answer != facts.No || said.English(got.Remedy) != "apt install podman" {
		t.Errorf("%+v", got)
	}
}

// TestUsableDaemons checks which daemons tare can use, by their info.
func TestUsableDaemons(t *testing.T) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	good := func() engine.Info {
		return engine.Info{
			OSType: "linux", KernelVersion: unix.ByteSliceToString(u.Release[:]),
			Architecture: unix.ByteSliceToString(u.Machine[:]), CgroupDriver: "cgroupfs",
		}
	}
	for _, driver := range []string{"cgroupfs", "systemd"} {
		i := good()
		i.CgroupDriver = driver
		if got := usable(i); got.Answer != facts.Yes {
			t.Errorf("%s: %+v", driver, got)
		}
	}
	for name, change := range map[string]func(*engine.Info){
		"another machine": func(i *engine.Info) { i.KernelVersion = "0.1" },
		"rootless":        func(i *engine.Info) { i.SecurityOptions = []string{"name=seccomp,profile=default", "name=rootless"} },
		"control groups":  func(i *engine.Info) { i.CgroupDriver = "none" },
	} {
		i := good()
		change(&i)
		if got := usable(i); got.Answer != facts.No || got.Remedy.IsZero() || !strings.Contains(said.English(got.Reason), name) {
			t.Errorf("%s on %s: %+v", name, runtime.GOARCH, got)
		}
	}
}

func TestDockerWithoutItsProgram(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DOCKER_HOST", "unix://"+socket)
	t.Setenv("PATH", t.TempDir())
	got := docker(context.Background(), false)
	if got.Answer != facts.No || !strings.Contains(said.English(got.Reason), "the program docker") || !strings.Contains(said.English(got.Remedy), "docker-cli") {
		t.Errorf("%+v", got)
	}
}
