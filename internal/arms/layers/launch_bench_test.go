package layers

import (
	"testing"

	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// BenchmarkLaunch opens an arm without data, starts its load and closes it.
func BenchmarkLaunch(b *testing.B) {
	testneed.Root(b)
	for _, r := range ladder() {
		b.Run(r.Name(), func(b *testing.B) { launchtest.Launch(b, r) })
	}
}
