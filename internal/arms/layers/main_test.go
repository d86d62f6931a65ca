package layers

import (
	"os"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/testing/launchtest"
)

// TestMain lets the test binary be tare and the loads. The conformance suite is tried
// in package environmenttest, with everything in the catalog.
func TestMain(m *testing.M) { os.Exit(launchtest.Main(m, ladder()...)) }

// ladder is all rungs in order, then what stands beside.
func ladder() []environment.Environment {
	return []environment.Environment{Host, Cgroup, Namespaces, RootFS, Security, Network, NAT, CPULimit}
}
