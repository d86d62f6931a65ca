package advise

import (
	"os"
	"testing"

	"github.com/tarelab/tare/internal/testing/launchtest"
)

// TestMain is tare where a test asks what this host can have: tare then starts its own program, which is this one.
func TestMain(m *testing.M) { os.Exit(launchtest.Main(m)) }
