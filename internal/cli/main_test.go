package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/foreign"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// TestMain is tare where a test tries something on this host: tare then starts its own program,
// which is this one, and must not run all tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") {
		if os.Args[1] == launch.GuardCommand {
			os.Exit(launch.GuardMain(catalog.Steps()))
		}
		code, ok := hidden.Run(slices.Concat(launch.Roles(), foreign.Roles()), os.Args[1:])
		if !ok {
			code = 2
		}
		os.Exit(code)
	}
	os.Setenv("LC_ALL", "C") // the tests expect English
	os.Exit(m.Run())
}
