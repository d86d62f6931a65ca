package engines

import (
	"os"
	"testing"

	"github.com/tarelab/tare/internal/engine/enginetest"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/environmenttest"
	"github.com/tarelab/tare/internal/environment/inspect"
	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/internal/testneed"
)

func TestMain(m *testing.M) {
	hidden := map[string]func([]string) int{launch.InitCommand: launch.Main}
	os.Exit(environmenttest.Main(m, hidden, []environment.Environment{Docker, Podman}))
}

// TestDocker tries the whole contract with a daemon of the test's own.
func TestDocker(t *testing.T) {
	testneed.Root(t)
	enginetest.Docker(t)
	host := inspect.HostAt("/", t.TempDir())
	if s := Docker.Support(host); s.Answer != environment.Yes {
		t.Fatalf("%+v", s)
	}
	environmenttest.Run(t, Docker, host, environmenttest.Options{Kills: 3})
}

// TestPodman tries the whole contract.
func TestPodman(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "podman")
	host := inspect.HostAt("/", t.TempDir())
	environmenttest.Run(t, Podman, host, environmenttest.Options{Kills: 3})
}
