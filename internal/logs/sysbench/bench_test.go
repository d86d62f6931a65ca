package sysbench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire/counter"
)

// BenchmarkHook measures the hook: events that do nothing, with and without it, in CPU
// time of sysbench per event. The difference is the cost of counting one.
func BenchmarkHook(b *testing.B) {
	for _, jit := range []string{"on", "off"} {
		for _, threads := range []int{1, 2} {
			for _, hooked := range []bool{false, true} {
				name := fmt.Sprintf("jit %s, %d threads, hooked %v", jit, threads, hooked)
				b.Run(name, func(b *testing.B) { benchEvents(b, jit, threads, hooked) })
			}
		}
	}
}

func benchEvents(b *testing.B, jit string, threads int, hooked bool) {
	tool := testneed.Tool(b, Program)
	script := filepath.Join(b.TempDir(), "nothing.lua")
	if err := os.WriteFile(script, []byte("jit."+jit+"() function event() end"), 0o600); err != nil {
		b.Fatal(err)
	}
	m, err := counter.Create(threads)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	run := script
	if hooked {
		run = filepath.Join(b.TempDir(), "hook.lua")
		text := Hook{Script: script, Counters: 3, Layout: m.Layout(), Origin: m.Now()}.Text()
		if err := os.WriteFile(run, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	const least = 100_000 // starting sysbench takes longer than fewer
	events := max(b.N, least)
	cmd := exec.Command(tool, run, "--threads="+strconv.Itoa(threads), "--time=0", "--events="+strconv.Itoa(events), "run")
	cmd.ExtraFiles = []*os.File{m.File()}
	b.ResetTimer()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(events), "cpu-ns/event")
}
