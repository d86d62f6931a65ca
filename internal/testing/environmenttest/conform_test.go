package environmenttest_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/servertest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

func environments() []environment.Environment {
	var all []environment.Environment
	for _, r := range catalog.Rungs(nil) {
		if _, pod := r.Environment.(pods.Pod); !pod { // make test-cluster runs those
			all = append(all, r.Environment)
		}
	}
	return all
}

// Every case runs on remote arms, or ledCases has the reason.
func TestLedCases(t *testing.T) {
	if missing := environmenttest.NotLed(); len(missing) > 0 {
		t.Errorf("no word on %v", missing)
	}
}

func TestMain(m *testing.M) {
	code := environmenttest.Main(m, slices.Concat(servertest.Roles(), launch.Roles()), environments())
	servertest.Clean()
	os.Exit(code)
}

// brief are the environments of make test: rungs that together have all layers, and a container of each
// kind. make conformance runs all.
var brief = []string{"host", "cgroup", "security", "nat", "runc", "gvisor"}

// TestEnvironments runs the suite for the environments of the catalog.
func TestEnvironments(t *testing.T) {
	testneed.Root(t)
	host := inspect.HostAt("/", t.TempDir())
	for _, env := range environments() {
		opts := environmenttest.Options{Kinds: catalog.Steps(), Kills: environmenttest.Kills()}
		switch env.Name() {
		case "podman", "docker":
			continue // package engines tests them, with a daemon of its own
		case "chroot":
			opts.Image = ownImage(t)
		}
		t.Run(env.Name(), func(t *testing.T) {
			if !slices.Contains(brief, env.Name()) {
				testneed.Long(t, environmenttest.Whole)
			}
			environmenttest.Run(t, env, host, opts)
		})
	}
}

// serving are the environments in which make test runs servers; make conformance runs all.
var serving = []string{"host", "runc"}

// TestServers checks the users and the files of servers and loads.
func TestServers(t *testing.T) {
	testneed.Root(t)
	host := inspect.HostAt("/", t.TempDir())
	for _, env := range environments() {
		switch env.Name() {
		case "podman", "docker", "chroot": // package engines tests the first two; an image has no servers
			continue
		}
		t.Run(env.Name(), func(t *testing.T) {
			if !slices.Contains(serving, env.Name()) {
				testneed.Long(t, environmenttest.Whole)
			}
			servertest.Run(t, env, host)
		})
	}
}

// TestLevels tests the levels of containers; package engines tests those of engines.
func TestLevels(t *testing.T) {
	testneed.Root(t)
	host := inspect.HostAt("/", t.TempDir())
	for _, env := range environments() {
		if name := env.Name(); name == "runc" || name == "crun" {
			t.Run(name, func(t *testing.T) { environmenttest.Levels(t, host, environmenttest.ContainerLevels(t, env)) })
		}
	}
}

// ownImage is an image with this binary and its libraries.
func ownImage(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return imagebuild.Build(t, "", self).File
}

// ofBound are the cases in which a data set that is bound from the host can differ: its files, and
// whether Close removes it.
var ofBound = []string{
	"what a process is given", "data", "children that outlive their parent", "closed while frozen", "closed while in use", "two arms",
}

// ofOrdinary are the cases in which an ordinary user's engine without control groups can differ:
// freezing, ending processes, owners of files.
var ofOrdinary = []string{
	"exit codes", "killed from outside", "deaf to signals", "what a process is given", "killed while frozen", "data",
	"freeze and thaw", "closed while frozen", "settings",
}

// TestBind tests environments with a root file system of their own, with the data set bound into it.
func TestBind(t *testing.T) {
	testneed.Root(t)
	host := inspect.HostAt("/", t.TempDir())
	for _, env := range environments() {
		if name := env.Name(); name == "rootfs" || name == "container" {
			t.Run(name, func(t *testing.T) {
				environmenttest.Run(t, env, host, environmenttest.Options{Kinds: catalog.Steps(), Bind: true, Cases: environmenttest.Fast(ofBound...)})
			})
		}
	}
}

const ordinaryEnv = "TARETEST_ORDINARY"

// TestOrdinaryUser tests, in a process of an ordinary user, the environments that this user can have.
// The others are skipped with their reason.
func TestOrdinaryUser(t *testing.T) {
	if os.Getenv(ordinaryEnv) == "" {
		asOrdinary(t)
		return
	}
	host := inspect.HostAt("/", os.TempDir())
	if host.Root {
		t.Fatal("still root")
	}
	had := 0
	var podman facts.Support
	for _, env := range environments() {
		answer := env.Support(host)
		if env.Name() == "podman" {
			podman = answer
		}
		if answer.Answer == facts.Yes {
			had++
			t.Run(env.Name(), func(t *testing.T) { asUser(t, env, host) })
			continue
		}
		t.Logf("%s left out: %s; %s", env.Name(), answer.Reason, answer.Remedy)
		if answer.Reason.IsZero() || answer.Remedy.IsZero() {
			t.Errorf("%s is left out without a reason or a remedy: %+v", env.Name(), answer)
		}
	}
	if had == 0 {
		t.Error("an ordinary user has not even the host")
	}
	if podman.Answer != facts.Yes {
		testneed.Feature(t, "podman", errors.New(said.English(podman.Reason)))
	}
}

// asUser runs the suite as the ordinary user of this process.
func asUser(t *testing.T, env environment.Environment, host facts.Host) {
	opts := environmenttest.Options{Kinds: catalog.Steps(), Kills: environmenttest.Kills()}
	switch env.Name() {
	case "rootfs":
		t.Run("bound", func(t *testing.T) {
			environmenttest.Run(t, env, host, environmenttest.Options{Kinds: catalog.Steps(), Bind: true, Kills: opts.Kills, Cases: environmenttest.Fast(ofBound...)})
		})
	case "podman": // its network matters only for the address
		opts.Choice.Container.Network, opts.Cases = environment.NetworkHost, environmenttest.Fast(ofOrdinary...)
		t.Run("published", func(t *testing.T) {
			published := environmenttest.Choice{Container: environment.Container{Network: environment.NetworkPublished}}
			environmenttest.Run(t, env, host, environmenttest.Options{Kinds: catalog.Steps(), Choice: published, Cases: []string{"server and client", "settings", "killed from outside"}})
		})
	}
	environmenttest.Run(t, env, host, opts)
}

// asOrdinary runs the test again as an ordinary user.
func asOrdinary(t *testing.T) {
	uid, gid := testneed.Ordinary(t)
	launchtest.ShareTun(t)
	dir, err := os.MkdirTemp("/tmp", "ordinary") // other users cannot enter the parents of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	// Other users may not read the test binary where it is.
	exe := filepath.Join(dir, "conform.test")
	if err := copyExe(exe); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestOrdinaryUser$", "-test.v")
	cmd.Env = append(os.Environ(), ordinaryEnv+"=1", "TMPDIR="+dir, "HOME="+dir, "XDG_STATE_HOME="+dir)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid, Groups: []uint32{}}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as user %d: %v\n%s", uid, err, out)
		return
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "---") || strings.Contains(line, "left out") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

func copyExe(to string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
