package layers

import (
	"testing"

	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// BenchmarkLaunch is what an arm takes from nothing to a running load, without
// data, and back to nothing.
func BenchmarkLaunch(b *testing.B) {
	testneed.Root(b)
	for _, r := range ladder() {
		b.Run(r.Name(), func(b *testing.B) { launchtest.Launch(b, r) })
	}
}
