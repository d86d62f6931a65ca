package engines

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/launch"
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
