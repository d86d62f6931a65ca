package engines

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/nftables"
	"github.com/vishvananda/netlink"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/servertest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire/hidden"
)

func TestMain(m *testing.M) {
	roles := slices.Concat(servertest.Roles(), launch.Roles(), []hidden.Role{{Name: launchtest.Look, Args: "...", Run: launchtest.See}})
	code := environmenttest.Main(m, roles, []environment.Environment{Docker, Podman})
	servertest.Clean()
	os.Exit(code)
}

// kinds are the kinds of steps of an engine's arm.
func kinds() journal.Kinds { return steps.Kinds(journal.KindOf[engine.ContainerStep]()) }

// TestDocker runs the whole suite with a daemon of its own.
func TestDocker(t *testing.T) {
	testneed.Root(t)
	enginetest.Docker(t)
	host := inspect.HostAt("/", t.TempDir())
	if s := Docker.Support(host); s.Answer != facts.Yes {
		t.Fatalf("%+v", s)
	}
	environmenttest.Run(t, Docker, host, environmenttest.Options{Kinds: kinds(), Kills: environmenttest.Kills()})
	levels(t, Docker, host)
	servers(t, Docker, host)
	t.Run("odd path", func(t *testing.T) { oddPath(t, Docker) })
	t.Run("somebody else's", func(t *testing.T) { notOurs(t, Docker) })
	docker, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("image", func(t *testing.T) { fromImage(t, Docker, docker) })
}

// TestDockerNetwork tests the network that Docker makes, in a network namespace of the test.
func TestDockerNetwork(t *testing.T) {
	if !enginetest.Apart(t) {
		return
	}
	enginetest.Bridged(t)
	environmenttest.Levels(t, inspect.HostAt("/", t.TempDir()), []environmenttest.Level{ofEngine(Docker)})
	t.Run("no bridge", func(t *testing.T) {
		enginetest.Docker(t)
		spec := launchtest.Spec(t, Docker, t.TempDir())
		spec.Port, spec.Container.Network = 7654, environment.NetworkEngine
		_, err := Docker.Open(t.Context(), spec)
		if !errors.Is(err, facts.ErrUnsupported) || !strings.Contains(hint.Of(err), "--bridge") {
			t.Errorf("%v (%s)", err, hint.Of(err))
		}
	})
}

// TestPodmanNetwork tests the network that Podman makes. The host's own keeps its links, rules and
// sysctls.
func TestPodmanNetwork(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "podman")
	before := ofNetwork(t)
	environmenttest.Levels(t, inspect.HostAt("/", t.TempDir()), []environmenttest.Level{ofEngine(Podman)})
	if d := cmp.Diff(before, ofNetwork(t)); d != "" {
		t.Errorf("the host's network changed: %s", d)
	}
}

// ofNetwork are links, sysctls and tables of the host's network.
func ofNetwork(t *testing.T) (all []string) {
	t.Helper()
	links, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		all = append(all, l.Attrs().Name)
	}
	for _, file := range []string{"sys/net/ipv4/ip_forward", "sys/net/ipv4/conf/all/route_localnet", "net/ip_tables_names"} {
		b, _ := os.ReadFile("/proc/" + file)
		all = append(all, file+"="+string(b))
	}
	tables, err := (&nftables.Conn{}).ListTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		all = append(all, table.Name)
	}
	return all
}

// TestPodman runs the whole suite.
func TestPodman(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "podman")
	host := inspect.HostAt("/", t.TempDir())
	environmenttest.Run(t, Podman, host, environmenttest.Options{Kinds: kinds(), Kills: environmenttest.Kills()})
	levels(t, Podman, host)
	servers(t, Podman, host)
	t.Run("odd path", func(t *testing.T) { oddPath(t, Podman) })
	t.Run("somebody else's", func(t *testing.T) { notOurs(t, Podman) })
	t.Run("image", func(t *testing.T) { fromImage(t, Podman, engine.NewPodman(testneed.Tool(t, "podman"))) })
}

// levels tests the levels of an engine's containers, in make conformance.
func levels(t *testing.T, k Kind, host facts.Host) {
	t.Run("levels", func(t *testing.T) {
		testneed.Long(t, environmenttest.Whole)
		environmenttest.Levels(t, host, environmenttest.ContainerLevels(t, k))
	})
}

// servers checks users and files of servers and loads, in make conformance.
func servers(t *testing.T, k Kind, host facts.Host) {
	t.Run("servers", func(t *testing.T) {
		testneed.Long(t, environmenttest.Whole)
		servertest.Run(t, k, host)
	})
}

// ofEngine is the level of the engine's own network.
func ofEngine(k Kind) environmenttest.Level {
	return environmenttest.Level{Name: "network engine", Env: k, Options: environmenttest.Options{
		Choice: environmenttest.Choice{Container: environment.Container{Network: environment.NetworkEngine}},
		Cases:  []string{"settings", "server and client", "freeze and thaw", "closed while in use"},
	}}
}

// oddPath uses a scratch directory whose name has characters that options give a meaning. Podman refuses a
// colon.
func oddPath(t *testing.T, k Kind) {
	a := launchtest.Open(t, k, func(s *environment.Spec) {
		s.Scratch, s.Bind = filepath.Join(s.Scratch, `a,b\c d e=ö`), true
		if err := os.Mkdir(s.Scratch, 0o755); err != nil {
			t.Fatal(err)
		}
	})
	if _, v := launchtest.Start(t, a, environment.Process{}); !slices.Equal(v.Volume, []string{"table"}) {
		t.Errorf("volume %v, want the data set", v.Volume)
	}
}

// notOurs checks that a container of another run with the name of an arm's container stays.
func notOurs(t *testing.T, k Kind) {
	a := launchtest.Open(t, k, nil)
	its := a.(*arm)
	if err := its.engine.Remove(t.Context(), its.name, "another"); err == nil {
		t.Error("removed a container of somebody else's")
	}
	launchtest.Start(t, a, environment.Process{})
}
