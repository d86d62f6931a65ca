package engines

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/engine"
)

// Groups that systemd makes, as runc composes their names (opencontainers/cgroups systemd/common.go:
// getUnitName, v2.go: getSliceFull) for Docker (daemon/oci_linux.go: "system.slice:docker:ID") and Podman
// ("machine.slice:libpod:ID"; conmon and the container are below the scope), and groups of the cgroupfs
// driver.
func TestGroupsOfEngines(t *testing.T) {
	const id = "132ff0d72245e6f13a3bbc6cdc5376886897b60ac59eaa8dea1df7ab959cbf1c"
	for _, c := range []struct{ name, text, group, unit string }{
		{"docker, systemd, version 2", "0::/system.slice/docker-" + id + ".scope\n", "/system.slice/docker-" + id + ".scope", "docker-" + id + ".scope"},
		{
			"docker, systemd, version 1 beside 2",
			"12:pids:/system.slice/docker-" + id + ".scope\n11:cpu,cpuacct:/system.slice/docker-" + id + ".scope\n4:memory:/system.slice/docker-" + id + ".scope\n1:name=systemd:/system.slice/docker-" + id + ".scope\n0::/system.slice/docker-" + id + ".scope\n",
			"/system.slice/docker-" + id + ".scope", "docker-" + id + ".scope",
		},
		{"docker, systemd, a slice of the user's", "0::/a.slice/a-b.slice/docker-" + id + ".scope\n", "/a.slice/a-b.slice/docker-" + id + ".scope", "docker-" + id + ".scope"},
		{"docker, cgroupfs, version 1", "4:memory:/docker/" + id + "\n0::/\n", "/docker/" + id, ""},
		{"docker started by systemd, cgroupfs, version 2", "0::/docker/" + id + "\n", "/docker/" + id, ""},
		{"podman, systemd, version 2", "0::/machine.slice/libpod-" + id + ".scope/container\n", "/machine.slice/libpod-" + id + ".scope/container", "libpod-" + id + ".scope"},
		{
			"rootless podman, systemd, version 2", "0::/user.slice/user-1001.slice/user@1001.service/user.slice/libpod-" + id + ".scope/container\n",
			"/user.slice/user-1001.slice/user@1001.service/user.slice/libpod-" + id + ".scope/container", "libpod-" + id + ".scope",
		},
		{"rootless, no groups of its own", "0::/user.slice/user-1001.slice/session-3.scope\n", "/user.slice/user-1001.slice/session-3.scope", "session-3.scope"},
		{"at the top", "4:memory:/\n0::/\n", "/", ""},
		{"nothing", "", "", ""},
	} {
		groups, err := proc.ParseCgroups([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		group := groupOf(groups)
		if unit := unitOf(group); group != c.group || unit != c.unit {
			t.Errorf("%s: group %q of unit %q, want %q of %q", c.name, group, unit, c.group, c.unit)
		}
	}
}

// With Docker's systemd driver the container has no parent group, and tare moves its process. With the
// cgroupfs driver its parent is the arm's group.
func TestElsewhere(t *testing.T) {
	for driver, want := range map[string]bool{"systemd": true, "cgroupfs": false} {
		a := &arm{kind: Docker, facts: []engine.Fact{{Name: "docker.cgroup-driver", Value: driver}}}
		if a.outsideArmGroup() != want {
			t.Errorf("%s: outside is %v", driver, !want)
		}
	}
	if a := (&arm{kind: Podman, user: "jane"}); !a.outsideArmGroup() {
		t.Error("a rootless container is not in a group of its engine's")
	}
	a := &arm{kind: Docker, engineGroup: "/system.slice/docker-1.scope"}
	if s := a.foundSettings(); len(s) != 2 || !strings.HasSuffix(s[1].Got, ".scope") {
		t.Errorf("%+v", s)
	}
}
