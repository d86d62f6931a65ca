package layers

import (
	"os"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/testing/launchtest"
)

// TestMain makes the test binary play tare and its loads. Package environmenttest runs the conformance
// suite for the whole catalog.
func TestMain(m *testing.M) { os.Exit(launchtest.Main(m, ladder()...)) }

// ladder has all rungs in order, then CPULimit.
func ladder() []environment.Environment {
	return []environment.Environment{Host, Cgroup, Namespaces, RootFS, Security, Network, NAT, CPULimit}
}
