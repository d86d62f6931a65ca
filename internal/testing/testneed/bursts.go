package testneed

import (
	"math/rand/v2"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Bursts runs two processes that tare does not know, until the end of the test. Each is busy 30
// % of the time, for 20 to 300 ms at random. Signals stop and continue them.
func Bursts(t testing.TB) {
	t.Helper()
	ended := make(chan struct{})
	wait := func(d time.Duration) bool {
		select {
		case <-ended:
			return false
		case <-time.After(d):
			return true
		}
	}
	var wg sync.WaitGroup
	for i := range 2 {
		hog := exec.Command("sh", "-c", "while :; do :; done")
		if err := hog.Start(); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(29, uint64(i)))
		on := func() time.Duration { return time.Duration(20+rng.IntN(281)) * time.Millisecond }
		off := func() time.Duration {
			return time.Duration(float64(rng.IntN(320)) * 0.7 / 0.3 * float64(time.Millisecond))
		}
		wg.Go(func() {
			for wait(on()) && hog.Process.Signal(syscall.SIGSTOP) == nil && wait(off()) && hog.Process.Signal(syscall.SIGCONT) == nil {
			}
			_ = hog.Process.Kill()
			_ = hog.Wait()
		})
	}
	t.Cleanup(func() { close(ended); wg.Wait() })
}
