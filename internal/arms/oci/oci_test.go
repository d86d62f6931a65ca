package oci

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

func TestMain(m *testing.M) { os.Exit(launchtest.Main(m, Container{})) }

func TestContainers(t *testing.T) {
	testneed.Root(t)
	for _, runtime := range Runtimes() {
		t.Run(runtime, func(t *testing.T) {
			testneed.Tool(t, runtime)
			launchtest.Arm(t, Container{Runtime: runtime}, runtime == "crun")
		})
	}
}

func TestKilled(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "runc")
	launchtest.Killed(t, Container{}, journal.KindOf[ContainerStep]())
}

func TestOutOfMemory(t *testing.T) {
	testneed.Root(t)
	for _, runtime := range Runtimes() {
		t.Run(runtime, func(t *testing.T) {
			testneed.Tool(t, runtime)
			launchtest.OutOfMemory(t, Container{Runtime: runtime})
		})
	}
}

func TestOddPaths(t *testing.T) {
	testneed.Root(t)
	for _, runtime := range Runtimes() {
		t.Run(runtime, func(t *testing.T) {
			testneed.Tool(t, runtime)
			a := launchtest.Open(t, Container{Runtime: runtime}, func(s *environment.Spec) {
				s.Scratch = filepath.Join(s.Scratch, `a,b:c\d e=ö`)
				if err := os.Mkdir(s.Scratch, 0o755); err != nil {
					t.Fatal(err)
				}
			})
			if _, v := launchtest.Start(t, a, environment.Process{}); !slices.Equal(v.Volume, []string{"table"}) {
				t.Errorf("volume %v, want the data set", v.Volume)
			}
		})
	}
}

func TestNotWithout(t *testing.T) {
	yes := facts.Supported()
	host := facts.Host{Groups: &cgroup.Tree{}, Features: map[string]facts.Support{
		facts.FeatureContainer: yes, facts.FeatureOverlay: yes, facts.FeatureSeccomp: yes,
	}}
	if got := (Container{}).Support(host); got != yes {
		t.Errorf("%+v, want yes", got)
	}
	if got := (Container{Runtime: "no-such-runtime"}).Support(host); got.Answer != facts.No || got.Remedy.IsZero() {
		t.Errorf("%+v, want no with a remedy", got)
	}
	host.Features[facts.FeatureOverlay] = facts.Unsupported(record.InProse("because"), record.InProse("do this"))
	if got := (Container{}).Support(host); said.English(got.Reason) != "because" {
		t.Errorf("%+v, want no, because", got)
	}
	host.Groups, host.NoGroups = nil, facts.Unsupported(record.InProse("no groups"), record.InProse("make some"))
	if got := (Container{}).Support(host); said.English(got.Reason) != "no groups" {
		t.Errorf("%+v, want no, for there are no groups", got)
	}
}

func TestOrdinaryUser(t *testing.T) {
	launchtest.AsOrdinary(t, func(t *testing.T) {
		if _, err := (Container{}).Open(t.Context(), environment.Spec{}); !errors.Is(err, facts.ErrUnsupported) {
			t.Errorf("%v, want ErrUnsupported", err)
		}
	})
}
