package layers

import (
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/environmenttest"
	"github.com/tarelab/tare/internal/environment/inspect"
	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/internal/environment/launch/launchtest"
)

// TestMain lets the test binary be tare and the loads of both kinds of tests.
func TestMain(m *testing.M) {
	all := append(Ladder(), CPULimit)
	conform := os.Geteuid() != 0 || len(os.Args) > 1 && strings.HasPrefix(os.Args[1], environmenttest.Command)
	if !conform {
		os.Exit(launchtest.Main(m, all...))
	}
	hidden := map[string]func([]string) int{launch.InitCommand: InitMain, launchtest.Look: launchtest.See}
	os.Exit(environmenttest.Main(m, hidden, all))
}

// TestOrdinaryConformance tries the whole contract as an ordinary user; as root
// package environmenttest tries it with everything in the catalog.
func TestOrdinaryConformance(t *testing.T) {
	launchtest.AsOrdinary(t, func(t *testing.T) {
		host := inspect.HostAt("/", t.TempDir())
		for _, r := range []environment.Environment{Host, Namespaces, RootFS, Security} {
			t.Run(r.Name(), func(t *testing.T) {
				environmenttest.Run(t, r, host, environmenttest.Options{Kills: 2, Bind: r == RootFS})
			})
		}
	})
}
