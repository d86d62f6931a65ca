package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/environmenttest"
	"github.com/tarelab/tare/internal/environment/inspect"
	"github.com/tarelab/tare/internal/environment/launch/launchtest"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testneed"
)

// ordinary is a user that every Debian has. The test gives it ids for containers, in
// a file that only the test's own mount namespace has.
const ordinary = "daemon"

// suited is Rootless under a name of its own, by which the suite finds it again.
type suited struct{ Rootless }

func (s suited) Name() string { return "rootless-" + s.Kind.Name() }

// equip lets the user have containers.
func equip(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(file, []byte(ordinary+":100000:65536\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/etc/subuid", "/etc/subgid"} {
		if err := unix.Mount(file, at, "", unix.MS_BIND, ""); err != nil {
			t.Fatalf("bind %s: %v", at, err)
		}
		t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
	}
	launchtest.ShareTun(t)
}

// TestRootlessPodman tries the whole contract in rootless containers of an ordinary user.
func TestRootlessPodman(t *testing.T) { rootless(t, Podman, nil, "podman", "crun", "runc") }

// TestRootlessDocker does so with a daemon of that user in each arm, as far as a daemon
// can make a difference: who ends what, who says how it ended, who carries the bytes.
func TestRootlessDocker(t *testing.T) {
	rootless(t, Docker, []string{
		"exit codes", "killed from outside", "out of memory", "what a process is given", "killed while frozen",
		"closed while frozen", "children that outlive their parent", "server and client", "settings",
	}, "dockerd", "containerd", "runc", "rootlesskit", "iptables")
}

func rootless(t *testing.T, k Kind, cases []string, tools ...string) {
	testneed.Root(t)
	for _, tool := range append(tools, "newuidmap", "slirp4netns") {
		testneed.Tool(t, tool)
	}
	equip(t)
	host := inspect.HostAt("/", t.TempDir())
	e := suited{Rootless{k, ordinary}}
	if s := e.Support(host); s.Answer != environment.Yes {
		t.Fatalf("%+v", s)
	}
	environmenttest.Run(t, e, host, environmenttest.Options{Kills: 2, Cases: cases})
	t.Run("levels", func(t *testing.T) {
		environmenttest.Levels(t, host, environmenttest.ContainerLevels(t, e, "network host", "network bridge, no filter", "bound data"))
	})
	t.Run("what it is", func(t *testing.T) { whatItIs(t, k) })
}

// carrier is what carries the bytes of a published port.
var carrier = map[Kind]string{Podman: "rootlessport", Docker: "docker-proxy, rootlesskit"}

// whatItIs: no process of the container or its engine is root's, the load has the
// limits of tare's groups, and what is lost is said.
func whatItIs(t *testing.T, k Kind) {
	a := launchtest.Open(t, Rootless{k, ordinary}, func(s *environment.Spec) { s.Port = 4000 })
	p, v := launchtest.Start(t, a, environment.Process{Args: []string{launchtest.Look, "serve", a.Place().Listen}})
	who, err := lookUp(ordinary)
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil || !strings.Contains(string(status), fmt.Sprintf("Uid:\t%d\t%d", who.uid, who.uid)) {
		t.Errorf("%v: %s", err, status)
	}
	if got := v.Status["Uid"]; !strings.HasPrefix(got, "0\t") {
		t.Errorf("in the container it is user %q, want root", got)
	}
	its := a.(*arm)
	pids, err := its.helpers.Pids()
	if err != nil || len(pids) == 0 {
		t.Errorf("no helper of the engine: %v %v", pids, err)
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err == nil && strings.Contains(string(text), "Uid:\t0\t") {
			t.Errorf("process %d of the engine is root's:\n%s", pid, text)
		}
	}
	settings, err := a.Settings()
	if err != nil {
		t.Error(err)
	}
	got := map[string]string{}
	for _, s := range settings {
		got[s.Name] = s.Got
	}
	for name, want := range map[string]string{
		k.Name() + ".user": ordinary, "namespace.user": "own", "namespace.net": "own",
		"rootless.limits": "tare's", "rootless.network": "slirp4netns", "rootless.carriers": carrier[k], "root.type": "overlay",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// What a rootless container cannot have is refused with what to do, when it is
// planned.
func TestRootlessLacks(t *testing.T) {
	for _, k := range []Kind{Docker, Podman} {
		r := Rootless{k, ordinary}
		refused := []environment.Container{{Network: environment.NetworkBridge}, {Image: "x"}}
		if k == Docker {
			refused = append(refused, environment.Container{Network: environment.NetworkHost})
		} else if err := r.Suits(environment.Container{Network: environment.NetworkHost}); err != nil {
			t.Error(err)
		}
		for _, c := range refused {
			if err := r.Suits(c); err == nil || hint.Of(err) == "" {
				t.Errorf("%s, %+v: %v", k.Name(), c, err)
			}
			if _, err := r.Open(t.Context(), environment.Spec{Container: c}); !errors.Is(err, environment.ErrUnsupported) {
				t.Errorf("%s, %+v: %v, want ErrUnsupported", k.Name(), c, err)
			}
		}
		if err := r.Suits(environment.Container{Network: environment.NetworkPublished}); err != nil {
			t.Error(err)
		}
	}
	for _, levels := range []string{"", "user", "user=", "name=x"} {
		for _, k := range []Kind{Docker, Podman} {
			if _, err := k.With(levels); err == nil {
				t.Errorf("%s:%q is no user", k.Name(), levels)
			}
		}
	}
	for _, name := range []string{"root", "nobody-is-called-so"} {
		h := environment.Host{Root: true, Groups: &cgroup.Tree{}, Features: map[string]environment.Support{
			environment.FeaturePodman: environment.Supported(), environment.FeatureOverlay: environment.Supported(),
		}}
		if s := (Rootless{Podman, name}).Support(h); s.Answer != environment.No || s.Remedy == "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestAccounts: what a host has to give an ordinary user.
func TestAccounts(t *testing.T) {
	root := t.TempDir() + "/"
	for file, text := range map[string]string{
		"etc/subuid": "other:100000:65536\n1234:200000:65536\n", "etc/subgid": "jane:200000:65536\n", "proc/sys/user/max_user_namespaces": "0\n",
	} {
		if err := os.MkdirAll(filepath.Dir(root+file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	jane, joe := account{name: "jane", uid: 1234}, account{name: "joe", uid: 1235}
	if s := joe.can(root, Rootless{Kind: Podman}.needs(nil)); s.Answer != environment.No || !strings.Contains(s.Reason, "/etc/subuid has no ids") || !strings.Contains(s.Remedy, "usermod") {
		t.Errorf("%+v", s)
	}
	if s := jane.can(root, Rootless{Kind: Podman}.needs(nil)); s.Answer != environment.No || !strings.Contains(s.Reason, "user.max_user_namespaces is 0") {
		t.Errorf("%+v", s)
	}
	if err := os.WriteFile(root+"proc/sys/user/max_user_namespaces", []byte("1000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := jane.can(root, Rootless{Kind: Podman}.needs(nil)); s.Answer != environment.No || !strings.Contains(s.Reason, "/dev/net/tun") {
		t.Errorf("%+v", s)
	}
	tun := root + "dev/net/tun"
	if err := os.MkdirAll(filepath.Dir(tun), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tun, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tun, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if s := jane.can(root, Rootless{Kind: Podman}.needs(nil)); s.Answer != environment.No || s.Remedy != "apt install uidmap" {
		t.Errorf("%+v", s)
	}
}
