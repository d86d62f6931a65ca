package oci

import (
	"testing"

	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// BenchmarkLaunch is what a container takes; compare with the ladder's.
func BenchmarkLaunch(b *testing.B) {
	testneed.Root(b)
	for _, runtime := range Runtimes() {
		b.Run(runtime, func(b *testing.B) {
			testneed.Tool(b, runtime)
			launchtest.Launch(b, Container{Runtime: runtime})
		})
	}
}
