package inspect

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/record"
)

// dockerBound is how long the daemon may take to answer: it must not delay a run without Docker.
const dockerBound = 3 * time.Second

// docker asks the daemon about itself. It has to run on this host, to see files that tare makes, and
// to have a cgroup driver that tare knows.
func docker(ctx context.Context, user bool) facts.Support {
	if user {
		return facts.Unsupported(record.Say("container_needs_root"), facts.AsRoot())
	}
	ctx, cancel := context.WithTimeout(ctx, dockerBound)
	defer cancel()
	d, err := engine.NewDocker("")
	if err != nil {
		return facts.Unsupported(record.InProse(err.Error()), record.Say("set_docker_host"))
	}
	path, local := strings.CutPrefix(d.Host(), "unix://")
	if !local {
		return facts.Unsupported(record.Say("docker_elsewhere", "host", d.Host()), record.Say("set_docker_host"))
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return noDaemon(path)
	}
	info, err := d.Info(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return facts.Unsupported(record.Say("docker_program_missing"), record.InProse(hint.Of(err)))
	}
	if err != nil {
		s := facts.Unsupported(record.Say("docker_silent", "path", path, "why", err.Error()), record.Say("start_docker"))
		if ctx.Err() != nil {
			s.Answer = facts.Unknown
		}
		return s
	}
	return usable(info)
}

// noDaemon tells a Docker that does not run from one that is not installed.
func noDaemon(path string) facts.Support {
	if _, err := exec.LookPath("dockerd"); err != nil {
		return facts.Unsupported(record.Say("docker_not_installed", "path", path), record.Say("install_docker"))
	}
	return facts.Unsupported(record.Say("docker_not_running", "path", path), record.Say("start_docker_or_host"))
}

// usable says whether tare can use a daemon.
func usable(i engine.Info) facts.Support {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return facts.Unclear(err)
	}
	release := unix.ByteSliceToString(u.Release[:])
	machine := unix.ByteSliceToString(u.Machine[:])
	switch {
	case i.OSType != "linux" || i.KernelVersion != release || i.Architecture != machine:
		return facts.Unsupported(record.Say("docker_of_other_machine", "system", i.OSType, "kernel", i.KernelVersion, "arch", i.Architecture,
			"own_kernel", release, "own_arch", machine), record.Say("run_with_daemon"))
	case slices.Contains(i.SecurityOptions, "name=rootless"):
		return facts.Unsupported(record.Say("docker_rootless"), record.Say("podman_or_root_daemon"))
	case i.CgroupDriver != "cgroupfs" && i.CgroupDriver != "systemd":
		return facts.Unsupported(record.Say("docker_cgroup_driver", "driver", i.CgroupDriver), record.Say("set_cgroup_driver"))
	}
	return facts.Supported()
}

// podman says whether Podman is installed. It is not asked: its first call makes directories.
func podman() facts.Support {
	if _, err := exec.LookPath("podman"); err != nil {
		return facts.Uninstalled("podman", "apt install podman")
	}
	return facts.Supported()
}
