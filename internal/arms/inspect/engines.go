package inspect

import (
	"context"
	"errors"
	"fmt"
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
)

// dockerBound is how long the daemon may take to answer: it must not delay a run without Docker.
const dockerBound = 3 * time.Second

// docker asks the daemon about itself. It has to run on this host, to see files that tare makes, and
// to have a cgroup driver that tare knows.
func docker(ctx context.Context, user bool) facts.Support {
	if user {
		return facts.Unsupported("the root file system of the container needs root", "run as root")
	}
	ctx, cancel := context.WithTimeout(ctx, dockerBound)
	defer cancel()
	d, err := engine.NewDocker("")
	if err != nil {
		return facts.Unsupported(err.Error(), "set DOCKER_HOST to unix:///PATH, or unset it")
	}
	path, local := strings.CutPrefix(d.Host(), "unix://")
	if !local {
		return facts.Unsupported("Docker is at "+d.Host()+", which may be another machine", "set DOCKER_HOST to unix:///PATH, or unset it")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return noDaemon(path)
	}
	info, err := d.Info(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return facts.Unsupported("the program docker is not installed: tare asks the daemon through it", hint.Of(err))
	}
	if err != nil {
		s := facts.Unsupported("Docker does not answer at "+path+": "+err.Error(), "start it: systemctl start docker")
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
		return facts.Unsupported("Docker is not installed: there is no "+path, "apt install docker.io, or set DOCKER_HOST to unix:///PATH")
	}
	return facts.Unsupported("Docker is not running: there is no "+path, "start it: systemctl start docker; or set DOCKER_HOST to unix:///PATH")
}

// usable says whether tare can use a daemon.
func usable(i engine.Info) facts.Support {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return facts.Support{Reason: err.Error()}
	}
	release := unix.ByteSliceToString(u.Release[:])
	machine := unix.ByteSliceToString(u.Machine[:])
	switch {
	case i.OSType != "linux" || i.KernelVersion != release || i.Architecture != machine:
		return facts.Unsupported(
			fmt.Sprintf("Docker runs on another machine: %s %s on %s, this is %s on %s", i.OSType, i.KernelVersion, i.Architecture, release, machine),
			"run tare where the daemon runs")
	case slices.Contains(i.SecurityOptions, "name=rootless"):
		return facts.Unsupported("this Docker is rootless: its daemon does not see mounts that are made after it started",
			"run tare as that daemon's user, with podman; or set DOCKER_HOST to the socket of a daemon of root's")
	case i.CgroupDriver != "cgroupfs" && i.CgroupDriver != "systemd":
		return facts.Unsupported(fmt.Sprintf("Docker's cgroup driver is %q: its containers have no control groups", i.CgroupDriver),
			`set "exec-opts": ["native.cgroupdriver=cgroupfs"] in /etc/docker/daemon.json`)
	}
	return facts.Supported()
}

// podman says whether Podman is installed. It is not asked: its first call makes directories.
func podman() facts.Support {
	if _, err := exec.LookPath("podman"); err != nil {
		return facts.Unsupported("podman is not installed", "apt install podman")
	}
	return facts.Supported()
}
