package oci

import (
	"testing"

	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// BenchmarkLaunch opens an arm, starts its container and closes it; compare with the ladder's benchmark.
func BenchmarkLaunch(b *testing.B) {
	testneed.Root(b)
	for _, runtime := range Runtimes() {
		b.Run(runtime, func(b *testing.B) {
			testneed.Tool(b, runtime)
			launchtest.Launch(b, Container{Runtime: runtime})
		})
	}
}
