// Package enginetest starts a Docker daemon for a test. Its data, socket and state are in a temporary
// directory, and it adds no link and no rule to any network.
package enginetest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// bound is how long the daemon may take to start and to end.
const bound = 2 * time.Minute

// Daemon is the daemon of a test.
type Daemon struct {
	Docker     string // its address
	Containerd string // the socket of the containerd that it started
}

// Docker starts a daemon, which ends with the test, and sets DOCKER_HOST to it. It runs a container
// first, because the daemon keeps a handle of the host's network namespace from its first container
// on. flags are more of the daemon's.
func Docker(t *testing.T, flags ...string) Daemon {
	t.Helper()
	return daemon(t, append(flags, "--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-masq=false", "--ip-forward=false")...)
}

// Bridged is Docker with the network that the daemon makes by default. Only a test that is Apart may
// start it: it adds a bridge and rules to the network namespace.
func Bridged(t *testing.T) Daemon {
	t.Helper()
	if os.Getenv(apartEnv) == "" {
		t.Fatal("the test has the network namespace of the host")
	}
	testneed.Tool(t, "iptables")
	return daemon(t)
}

const apartEnv = "TARETEST_APART"

// Apart runs the test again in a process with a network namespace of its own, and returns true in that
// process alone.
func Apart(t *testing.T) bool {
	t.Helper()
	testneed.Root(t)
	if os.Getenv(apartEnv) != "" {
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), apartEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("in a network namespace of its own: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- ") {
			t.Log(strings.TrimSpace(line))
		}
	}
	return false
}

// daemon starts a daemon with these flags.
func daemon(t *testing.T, flags ...string) Daemon {
	t.Helper()
	testneed.Root(t)
	for _, tool := range []string{"dockerd", "docker", "containerd", "runc"} {
		testneed.Tool(t, tool)
	}
	dir, err := os.MkdirTemp("/tmp", "docker") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, dir) })
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("daemon.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(in("log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("dockerd", append([]string{
		"--config-file", in("daemon.json"), "--data-root", in("data"), "--exec-root", in("exec"),
		"--pidfile", in("pid"), "--host", "unix://" + in("s"), "--exec-opt", "native.cgroupdriver=cgroupfs",
	}, flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	// When the test is killed, the daemon ends too, with its containers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	thread := launch.NewThread()
	t.Cleanup(thread.Close)
	if closed := thread.Do(func() { err = cmd.Start() }); closed != nil || err != nil {
		t.Fatal(closed, err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() { end(t, cmd, ended) })
	t.Setenv("DOCKER_HOST", "unix://"+in("s"))
	await(t, in("log"), ended)
	warm(t)
	return Daemon{"unix://" + in("s"), in("exec/containerd/containerd.sock")}
}

// await waits until the daemon answers.
func await(t *testing.T, log string, ended <-chan struct{}) {
	t.Helper()
	d, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(bound); ; time.Sleep(50 * time.Millisecond) {
		_, err := d.Info(t.Context())
		if err == nil {
			return
		}
		select {
		case <-ended:
			t.Fatalf("dockerd ended: %s", tail(log))
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("dockerd does not answer: %v; %s", err, tail(log))
		}
	}
}

// warm runs a container that fails: the daemon makes and keeps some things with its first container.
func warm(t *testing.T) {
	t.Helper()
	d, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	for name, host := range map[string]bool{"tare-warm-host": true, "tare-warm-none": false} {
		c := engine.Container{Name: name, Owner: "warm", Root: t.TempDir(), Args: []string{"/none"}, HostNetwork: host}
		if err := d.Create(ctx, c); err != nil {
			t.Fatal(err)
		}
		if err := d.Start(ctx, name); err == nil {
			t.Fatal("started a container without a program")
		}
		if err := d.Remove(ctx, name, "warm"); err != nil {
			t.Fatal(err)
		}
	}
}

func end(t *testing.T, cmd *exec.Cmd, ended <-chan struct{}) {
	_ = cmd.Process.Signal(unix.SIGTERM)
	select {
	case <-ended:
	case <-time.After(bound):
		_ = cmd.Process.Kill()
		<-ended
		t.Errorf("dockerd did not end within %v", bound)
	}
}

func tail(file string) string {
	b, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// removeAll unmounts the daemon's mounts and removes its directory.
func removeAll(t *testing.T, dir string) {
	all, _ := proc.FS("/").Mounts()
	for _, m := range all {
		if strings.HasPrefix(m.Point, dir+"/") {
			_ = unix.Unmount(m.Point, unix.MNT_DETACH)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}

// Named are the containers and images of the daemon whose name contains a word.
func Named(t *testing.T, word string) (all []string) {
	t.Helper()
	var containers []struct{ Names []string }
	ask(t, "/containers/json?all=1", &containers)
	for _, c := range containers {
		if name := strings.Join(c.Names, " "); strings.Contains(name, word) {
			all = append(all, "docker's container "+name)
		}
	}
	var images []struct{ RepoTags []string }
	ask(t, "/images/json", &images)
	for _, i := range images {
		if name := strings.Join(i.RepoTags, " "); strings.Contains(name, word) {
			all = append(all, "docker's image "+name)
		}
	}
	return all
}

// ask runs the program docker, which asks the daemon of DOCKER_HOST.
func ask(t *testing.T, path string, into any) {
	t.Helper()
	socket := strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	r, err := (&http.Client{Transport: transport}).Get("http://docker" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(into); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("docker: %s: %v", r.Status, err)
	}
}
