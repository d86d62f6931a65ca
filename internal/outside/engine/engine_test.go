package engine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/base/hint"
)

// play is an engine whose program is a script. The script writes its arguments into a file,
// one command to a line, which commands reads.
func play(t *testing.T, k *kind, script string) (e Engine, commands func() []string) {
	t.Helper()
	dir := t.TempDir()
	program, log := filepath.Join(dir, k.name), filepath.Join(dir, "commands")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$*\" >>'"+log+"'\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	e = Engine{kind: k, path: program}
	if k.daemon {
		e.address = "unix:///s"
	}
	return e, func() []string {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
}

// rootOf is a root file system with a directory, a link and a file.
func rootOf(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(root, "usr"), 0o755), os.Mkdir(filepath.Join(root, "proc"), 0o755),
		os.Symlink("usr/bin", filepath.Join(root, "bin")), os.WriteFile(filepath.Join(root, "file"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestCreate(t *testing.T) {
	root := rootOf(t)
	c := Container{
		Name: "tare-r-a", Owner: "r", Root: root, Binds: []Bind{{Source: `/a,b "c"`, Target: "/x", ReadOnly: true}},
		Args: []string{"/tare", "-x"}, Dir: "/", Parent: "tare-r/a", Hostname: "h", Powerless: true, Security: []string{"apparmor=p"},
	}
	const first = "create --name tare-r-a --label org.tarelab.tare.run=r --log-driver none --workdir / --hostname h "
	const own = " --network none --security-opt apparmor=p --cap-drop ALL "
	for _, k := range []struct {
		kind *kind
		want []string
	}{
		{&docker, []string{
			"--host unix:///s load --quiet",
			"--host unix:///s " + first + "--userns host --cgroup-parent /tare-r/a" + own +
				"--mount type=bind,source=" + root + "/usr,target=/usr,bind-propagation=rprivate " +
				`--mount type=bind,"source=/a,b ""c""",target=/x,bind-propagation=rprivate,readonly ` +
				"--pull never --user 0:0 --entrypoint /tare -- tare-root:tare-r-a -x",
		}},
		{&podman, []string{
			"--cgroup-manager cgroupfs " + first + "--cgroups no-conmon --cgroup-parent tare-r/a LIMITS" + own +
				`--mount type=bind,"source=/a,b ""c""",target=/x,bind-propagation=rprivate,readonly --rootfs ` + root + " /tare -x",
		}},
	} {
		e, commands := play(t, k.kind, "")
		if err := e.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		limits, err := hostLimits(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := commands()
		for i := range got {
			got[i] = strings.Replace(got[i], strings.Join(limits, " "), "LIMITS", 1)
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("%s:\n%s\nwant\n%s", e.Name(), strings.Join(got, "\n"), strings.Join(k.want, "\n"))
		}
	}
}

// Both engines get an image the same way, and run the given program, not the image's.
func TestCreateFromImage(t *testing.T) {
	for _, k := range []*kind{&docker, &podman} {
		e, commands := play(t, k, "")
		err := e.Create(t.Context(), Container{Name: "tare-r-a", Image: "i:1", Args: []string{"/tare", "-x"}, HostNetwork: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := commands(); len(got) != 1 || !strings.HasSuffix(got[0], " --network host --pull never --user 0:0 --entrypoint /tare -- i:1 -x") {
			t.Errorf("%s: %q", e.Name(), got)
		}
	}
}

// TestNetworkFlags checks that no network is forced on a Podman that may not have it: slirp4netns is gone from version 6.
func TestNetworkFlags(t *testing.T) {
	for want, c := range map[string]Container{
		"--network host": {HostNetwork: true, Publish: 4000},
		"--network none": {},
		"--network bridge --publish 127.0.0.1:4000:4000/tcp": {Network: Bridge, Publish: 4000},
		"--publish 127.0.0.1:4000:4000/tcp":                  {Publish: 4000},
	} {
		if got := strings.Join(c.network(), " "); got != want {
			t.Errorf("%+v: %s, want %s", c, got, want)
		}
	}
}

func TestState(t *testing.T) {
	for name, c := range map[string]struct {
		kind *kind
		json string
		want State
	}{
		"docker runs": {
			&docker, `[{"Image": "sha256:1f", "State": {"Status": "running", "Running": true, "Pid": 7}}]`,
			State{Running: true, Pid: 7, Image: "sha256:1f"},
		},
		"docker publishes": {
			&docker, `[{"NetworkSettings": {"IPAddress": "172.17.0.2", "Ports": {"80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}], "81/tcp": null}},
				"State": {"Status": "running", "Pid": 7}}]`,
			State{Running: true, Pid: 7, Address: "172.17.0.2", Published: []string{"127.0.0.1:8080"}},
		},
		"docker 29 publishes": {
			&docker, `[{"NetworkSettings": {"Networks": {"bridge": {"IPAddress": "172.17.0.2"}}}, "State": {"Status": "running", "Pid": 7}}]`,
			State{Running: true, Pid: 7, Address: "172.17.0.2"},
		},
		"docker ended": {
			&docker, `[{"Image": "sha256:1f", "State": {"Status": "exited", "ExitCode": 137, "OOMKilled": true}}]`,
			State{Code: 137, OOM: true, Image: "sha256:1f"},
		},
		"podman's is not cleaned up": {
			&podman, `[{"BoundingCaps": ["CAP_KILL"], "Image": "1f", "State": {"Status": "stopped", "Pid": 0}}]`,
			State{Running: true, Capabilities: []string{"CAP_KILL"}, Image: "sha256:1f"},
		},
		"podman 5 of an ordinary user": {
			&podman, `[{"State": {"Status": "running", "Pid": 7}, "HostConfig": {"NetworkMode": "pasta"}}]`, State{Running: true, Pid: 7, Network: "pasta"},
		},
		"podman 4 of an ordinary user": {
			&podman, `[{"State": {"Status": "running", "Pid": 7}, "HostConfig": {"NetworkMode": "slirp4netns"}}]`, State{Running: true, Pid: 7, Network: "slirp4netns"},
		},
		"podman's has no image": {&podman, `[{"Image": "", "State": {"Status": "created"}}]`, State{}},
	} {
		e, _ := play(t, c.kind, "echo '"+c.json+"'")
		got, err := e.State(t.Context(), "x")
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// Docker 20.10 and 28.2 and Podman 4.3 print this about missing containers and images.
func TestNotThere(t *testing.T) {
	for text, want := range map[string]error{
		"Error: No such container: x":                                               errNone,
		"Error response from daemon: No such container: x":                          errNone,
		`Error: no container with name or ID "x" found: no such container`:          errNone,
		"Error: inspecting object: no such container x":                             errNone,
		"Error: No such image: x":                                                   ErrNoImage,
		"Error response from daemon: no such image: x: No such image: x:latest":     ErrNoImage,
		"Error: inspecting object: x: image not known":                              ErrNoImage,
		"Error response from daemon: unrecognized image ID sha256:73d2":             ErrNoImage,
		"Cannot connect to the Docker daemon at unix:///s. Is it running?":          nil,
		"Error response from daemon: OCI runtime create failed: no such file: dead": nil,
	} {
		e, _ := play(t, &docker, "echo '"+text+"' >&2; exit 1")
		err := e.Start(t.Context(), "x")
		if want != nil && !errors.Is(err, want) || want == nil && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRemove(t *testing.T) {
	for name, c := range map[string]struct {
		kind   *kind
		script string
		want   []string // of the last words of each command
		err    string
	}{
		"docker": {&docker, "[ $3 != ps ] || echo 1f", []string{"name=^tare-r-a$", "run=r", "--volumes tare-r-a", "image rm tare-root:tare-r-a"}, ""},
		"podman": {&podman, "[ $3 != ps ] || echo 1f", []string{"name=^tare-r-a$", "run=r", "--volumes --time 0 tare-r-a"}, ""},
		"none":   {&docker, "[ $3 = ps ] || { echo No such image >&2; exit 1; }", []string{"name=^tare-r-a$", "image rm tare-root:tare-r-a"}, ""},
		"somebody else's": {
			&podman, `case "$*" in *label=*) ;; *) echo 1f ;; esac`, []string{"name=^tare-r-a$", "run=r"}, "is not of run r",
		},
	} {
		e, commands := play(t, c.kind, c.script)
		err := e.Remove(t.Context(), "tare-r-a", "r")
		if c.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if got := commands(); !slices.EqualFunc(got, c.want, strings.HasSuffix) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// If the daemon does not answer, Docker's program fails since version 23 and did not before.
func TestInfo(t *testing.T) {
	e, _ := play(t, &docker, `echo '{"ServerErrors": ["Cannot connect to the Docker daemon"]}'`)
	if _, err := e.Info(t.Context()); err == nil || !strings.Contains(err.Error(), "Cannot connect") {
		t.Errorf("%v", err)
	}
	for text, want := range map[string][]Fact{
		`{"ServerVersion": "20.10", "Driver": "overlay2", "DefaultRuntime": "runc", "CgroupDriver": "systemd", "SecurityOptions": ["name=seccomp", "name=x"]}`: {
			{"docker.version", "20.10"}, {"docker.runtime", "runc"}, {"docker.cgroup-driver", "systemd"},
			{"docker.storage", "overlay2"}, {"docker.security", "name=seccomp name=x"},
		},
		`{"host": {"os": "linux"}, "version": {"Version": "4.3.1"}, "store": {"graphDriverName": "overlay"}}`: {
			{"docker.version", "4.3.1"}, {"docker.storage", "overlay"},
		},
	} {
		e, _ := play(t, &docker, "echo '"+text+"'")
		if got, err := e.Facts(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

func TestProgramIsNotThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	e, err := NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Info(t.Context()); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(hint.Of(err), "docker-cli") {
		t.Errorf("%v: %s", err, hint.Of(err))
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"nonsense", "://x", "unix://"} {
		if _, err := NewDocker(bad); err == nil {
			t.Errorf("%s is an address", bad)
		}
	}
	t.Setenv("DOCKER_HOST", "unix:///there")
	if e, err := NewDocker(""); err != nil || e.Host() != "unix:///there" {
		t.Errorf("%s, %v", e.Host(), err)
	}
}
