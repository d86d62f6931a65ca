package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// BenchmarkLaunch measures the median time of a launch of all arms of the preset quick, without the first
// one, and the median time between the last window before a launch and the first one after it.
func BenchmarkLaunch(b *testing.B) {
	testneed.Root(b)
	for _, load := range []string{"commit", "rpc", "oltp-read-only", "oltp-read-write"} {
		b.Run(load, func(b *testing.B) {
			var launches, gaps []float64
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "result")
				cmd := exec.Command(os.Args[0], "__cli", "run", "quick", "--workload", load, "--budget", "15s",
					"--precision", "0.1%", "--set", "generations=8", "-q", "-o", dir)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				r, err := record.Read(dir)
				if err != nil {
					b.Fatal(err)
				}
				l, g := launchTimes(r)
				launches, gaps = append(launches, l...), append(gaps, g...)
			}
			for name, all := range map[string][]float64{"ms-launch": launches, "ms-between": gaps} {
				slices.Sort(all)
				b.ReportMetric(1e3*all[len(all)/2], name)
			}
		})
	}
}

// launchTimes returns, in seconds, the times of all launches but the first, and those between windows of
// one launch and the next.
func launchTimes(r *record.Result) (launches, gaps []float64) {
	last, launch := 0.0, 0
	for _, l := range r.Lines {
		if g := l.Generation; g != nil && g.Number > 0 {
			launches = append(launches, g.Seconds)
		}
		if l.Block == nil || len(l.Block.Windows) == 0 {
			continue
		}
		first, end := l.Block.Windows[0], l.Block.Windows[len(l.Block.Windows)-1]
		if l.Block.Generation != launch {
			gaps = append(gaps, first.Start-last)
		}
		last, launch = end.Start+end.Seconds, l.Block.Generation
	}
	return launches, gaps
}

// The first process of an arm starts before packages that it does not need are initialised:
// Kubernetes' client, SQLite, the command line.
func TestInitStartsEarly(t *testing.T) {
	cmd := exec.Command(os.Args[0], "__init", "3")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput() // it fails, for it has no socket
	if err == nil || !strings.Contains(string(out), "init github.com/tarelab/tare/internal/linux/") {
		t.Fatalf("%v: %s", err, out)
	}
	for _, late := range []string{"k8s.io/client-go", "modernc.org/sqlite", "github.com/tarelab/tare/internal/cli"} {
		if strings.Contains(string(out), "init "+late) {
			t.Errorf("%s is initialised before", late)
		}
	}
}
