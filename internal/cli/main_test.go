package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/catalog"
)

// TestMain is tare where a test tries something on this host: tare then starts its own program,
// which is this one, and must not run all tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") {
		switch os.Args[1] {
		case launch.InitCommand:
			os.Exit(layers.InitMain(os.Args[2:]))
		case launch.GuardCommand:
			os.Exit(launch.GuardMain(catalog.Steps()))
		}
		os.Exit(2)
	}
	os.Exit(m.Run())
}
