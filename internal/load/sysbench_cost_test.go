package load_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/internal/sysbench"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/internal/workload/workloadtest"
)

// What the hook costs a real load: the same sysbench with and without it, on
// one server, taking turns in random order. The server counts the queries of
// both. `TARE_TIER=hook go test -run HookCost -v ./internal/load`
func TestHookCost(t *testing.T) {
	testneed.Long(t, "hook")
	for _, script := range []string{"oltp_read_only", "oltp_point_select"} {
		t.Run(script, func(t *testing.T) {
			const pairs, window, discard = 100, 150 * time.Millisecond, 10 * time.Millisecond
			s := newHookCost(t, script)
			var rates, cpu [2][]float64
			for range pairs {
				first := rand.IntN(2)
				for _, which := range []int{first, 1 - first} {
					r, c := s.window(which, window, discard)
					rates[which], cpu[which] = append(rates[which], r), append(cpu[which], c)
				}
			}
			var ratios, ns []float64
			for i := range pairs {
				ratios = append(ratios, math.Log(rates[1][i]/rates[0][i]))
				ns = append(ns, (cpu[1][i]-cpu[0][i])*1e9)
			}
			r, rse := mean(ratios)
			c, cse := mean(ns)
			per, _ := mean(rates[0])
			own, _ := mean(cpu[0])
			t.Logf("%.0f events/s; with the hook %+.2f %% ± %.2f of throughput, %+.0f ns ± %.0f of sysbench's CPU per event (of %.0f µs)",
				per, 100*(math.Exp(r)-1), 196*rse, c, 1.96*cse, own*1e6)
			if r+1.96*rse < -0.01 {
				t.Error("the hook costs more than 1 %")
			}
		})
	}
}

// mean and its standard error, without the tenth at each end.
func mean(x []float64) (m, se float64) {
	x = append([]float64(nil), x...)
	for range len(x) / 10 {
		low, high := 0, 0
		for i := range x {
			if x[i] < x[low] {
				low = i
			}
			if x[i] > x[high] {
				high = i
			}
		}
		x[low], x[high] = math.NaN(), math.NaN()
		kept := x[:0]
		for _, v := range x {
			if !math.IsNaN(v) {
				kept = append(kept, v)
			}
		}
		x = kept
	}
	for _, v := range x {
		m += v / float64(len(x))
	}
	for _, v := range x {
		se += (v - m) * (v - m)
	}
	return m, math.Sqrt(se/float64(len(x)-1)/float64(len(x))) * 1.2 // what trimming takes off
}

// hookCost is a server with two stopped sysbenches, plain and hooked.
type hookCost struct {
	t    *testing.T
	c    *serve.Client
	pids [2]int
	per  float64 // queries per event
}

func newHookCost(t *testing.T, script string) *hookCost {
	t.Helper()
	const threads = 2
	b := newBenchmark(t, threads)
	server, _, err := b.Server.Start(t.Context(), serve.Auto, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	secret, err := serve.Secret(b.Server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := serve.Connect(serve.Address{Dir: b.Server.Dir, User: service.User, Secret: secret, Database: service.Database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Await(t.Context(), time.Minute, server.Alive); err != nil {
		t.Fatal(err)
	}
	h := &hookCost{t: t, c: c, per: map[string]float64{"oltp_read_only": 16, "oltp_point_select": 1}[script]}
	config := sysbench.Server{Driver: "mysql", Socket: service.SocketFile, User: service.User, Database: service.Database, Secret: secret}
	b.Script = script
	for i, hooked := range []bool{false, true} {
		h.pids[i] = h.start(b, config, hooked)
	}
	return h
}

func (h *hookCost) start(b *benchmark, config sysbench.Server, hooked bool) int {
	h.t.Helper()
	run := sysbench.Run{Data: b.Data, Threads: b.m.Threads()}
	options := filepath.Join(h.t.TempDir(), "options")
	os.WriteFile(options, config.Config(), 0o600)
	script := b.Script
	m := workloadtest.Counters(h.t, b.m.Threads())
	if hooked {
		script = filepath.Join(h.t.TempDir(), "hook.lua")
		text := sysbench.Hook{Script: b.Script, Counters: 3, Layout: m.Layout(), Origin: m.Now()}.Text()
		os.WriteFile(script, text, 0o600)
	}
	cmd := exec.Command(testneed.Tool(h.t, "sysbench"), run.Args(script, options, true)...)
	cmd.Dir = b.Server.Dir
	cmd.ExtraFiles = []*os.File{m.File()}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		var s, zero counter.Snapshot
		if m.Read(&s); hooked && s.Since(&zero).Total() == 0 {
			h.t.Error("the hook counted nothing")
		}
	})
	time.Sleep(2 * time.Second) // warm
	unix.Kill(cmd.Process.Pid, unix.SIGSTOP)
	return cmd.Process.Pid
}

// window lets one of them work and returns events per second and its CPU
// seconds per event.
func (h *hookCost) window(which int, length, discard time.Duration) (rate, cpu float64) {
	h.t.Helper()
	unix.Kill(h.pids[which], unix.SIGCONT)
	time.Sleep(discard)
	began, before, used := time.Now(), h.questions(), h.cpu(which)
	time.Sleep(length)
	seconds, events, spent := time.Since(began).Seconds(), (h.questions()-before)/h.per, h.cpu(which)-used
	unix.Kill(h.pids[which], unix.SIGSTOP)
	return events / seconds, spent / events
}

func (h *hookCost) questions() float64 {
	h.t.Helper()
	v, err := h.c.Value(h.t.Context(), "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'questions'")
	if err != nil {
		h.t.Fatal(err)
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil {
		h.t.Fatal(err)
	}
	return x
}

// cpu is the CPU time of all threads in seconds.
func (h *hookCost) cpu(which int) (seconds float64) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", h.pids[which]))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		var ns float64
		fmt.Sscan(string(text), &ns)
		seconds += ns * 1e-9
	}
	return seconds
}
