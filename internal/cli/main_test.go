package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/catalog"
)

// TestMain answers for tare where a test looks at this host: what is tried there starts this
// program again, which must not be all tests once more.
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
