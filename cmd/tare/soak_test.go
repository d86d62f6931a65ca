package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// used is what a process of tare's uses at one moment, and the size of its record.
type used struct {
	at                             time.Duration // since the start of the test
	rss, descriptors, threads, log float64       // bytes, numbers, bytes
}

// looped are the runs of the soak's loop, one after the other.
var looped = []string{
	"run quick --workload=commit --arms=host,container --set=commit.log=1MiB --budget=3s",
	"run quick --workload=rpc --arms=host,cgroup,namespaces --set=rpc.mode=open --set=rpc.rate=500 --budget=4s",
	"run colocation --budget=4s",
	"run redis-layers --workload=get --set=get.keys=1000 --arms=host,container --budget=4s",
	"run quick --workload=commit --arms=rootfs --volume=loop:ext4 --set=commit.log=1MiB --budget=5s",
	"run quick --workload=commit --arms=host,podman --set=commit.log=1MiB --budget=5s",
}

// After each run the loop rests for so many times the CPU time of the run: the test is about what
// tare uses and leaves, which needs no busy host.
const rests = 9

// told is the number of looks at a run after which the test logs them: ten minutes of the long run.
const told = 120

// The load of the long run is light for the same reason, and its windows are many. An arm like the
// host never reaches a precision of a hundredth of a percent.
const longRun = `budget: %dm
precision: 0.01%%
window: 100ms
discard: 5ms
workloads:
  rpc: {kind: rpc, params: {mode: open, rate: 200, concurrency: 1}}
arms:
  host: {environment: host}
  cgroup: {environment: cgroup}
  container: {environment: container}
`

// soak is tare with a state of its own.
type soak struct {
	t     *testing.T
	base  string
	began time.Time
}

// soaked is a run of the soak.
type soaked struct {
	id  string
	all []used
	cpu time.Duration // of tare and what it waited for
}

func (s *soak) tool(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.base, "XDG_CACHE_HOME="+filepath.Join(s.base, "cache"), hostlock.DirEnv+"="+s.base)
	return cmd
}

// watched runs tare and looks at it at an interval until it ends.
func (s *soak) watched(every time.Duration, args []string) (r soaked) {
	s.t.Helper()
	dir := filepath.Join(s.base, fmt.Sprintf("result-%d", time.Now().UnixNano()))
	cmd := s.tool(append(args, "-q", "--force", "--scratch="+filepath.Join(s.base, "scratch"), "-o", dir)...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	must(s.t, cmd.Start())
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				s.t.Errorf("tare %s: %v\n%s", strings.Join(args, " "), err, said.String())
			}
			r.id, r.cpu = runID(dir), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
			if r.id == "" {
				s.t.Errorf("tare %s: no record", strings.Join(args, " "))
			}
			must(s.t, os.RemoveAll(dir))
			return r
		case <-time.After(every):
			u, ok := s.use(cmd.Process.Pid, dir)
			if !ok {
				continue
			}
			if r.all = append(r.all, u); len(r.all)%told == 0 {
				s.t.Logf("tare %s: after %v %.0f bytes of memory, %.0f descriptors, %.0f threads, a record of %.0f bytes",
					args[0], u.at.Round(time.Second), u.rss, u.descriptors, u.threads, u.log)
			}
		}
	}
}

func (s *soak) use(pid int, dir string) (used, bool) {
	proc := fmt.Sprintf("/proc/%d", pid)
	fds, _ := os.ReadDir(proc + "/fd")
	threads, _ := os.ReadDir(proc + "/task")
	_, rss, ok := strings.Cut(read(proc+"/status"), "VmRSS:")
	if !ok || len(fds) == 0 {
		return used{}, false // it has ended
	}
	kib, err := strconv.ParseFloat(strings.Fields(rss)[0], 64)
	must(s.t, err)
	u := used{at: time.Since(s.began), rss: kib * 1024, descriptors: float64(len(fds)), threads: float64(len(threads))}
	if info, err := os.Stat(filepath.Join(dir, "record.jsonl")); err == nil {
		u.log = float64(info.Size())
	}
	return u, true
}

// TestSoak runs tare in a loop, beside one run as long as the test, for TARETEST_SOAK minutes:
// memory, descriptors and threads must not grow, and nothing may stay.
func TestSoak(t *testing.T) {
	testneed.Long(t, "soak")
	testneed.Root(t)
	testneed.Tool(t, "podman")
	minutes, err := strconv.Atoi(setting("TARETEST_SOAK", "10"))
	must(t, err)
	s := &soak{t: t, base: t.TempDir(), began: time.Now()}
	must(t, os.Mkdir(filepath.Join(s.base, "scratch"), 0o755))
	file := filepath.Join(s.base, "long.yaml")
	must(t, os.WriteFile(file, fmt.Appendf(nil, longRun, minutes), 0o600))
	for _, args := range looped { // what the first makes once and keeps: a data set, an engine's files
		s.watched(time.Second, strings.Fields(args))
	}
	before := lookAtHost(t, s.base)
	s.began = time.Now()
	var long soaked
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		long = s.watched(5*time.Second, []string{"run", file})
		if lasted := time.Since(s.began); lasted < time.Duration(minutes)*time.Minute*9/10 {
			t.Errorf("the long run ended after %v", lasted)
		}
	}()
	names := []string{s.base}
	ends := map[string][]used{}
	for i := 0; time.Since(s.began) < time.Duration(minutes)*time.Minute; i++ {
		args := looped[i%len(looped)]
		r := s.watched(100*time.Millisecond, strings.Fields(args))
		if names = append(names, r.id); len(r.all) > 0 {
			ends[args] = append(ends[args], r.all[len(r.all)-1])
		}
		time.Sleep(max(2*time.Second, rests*r.cpu))
	}
	<-ended
	t.Logf("%d runs beside the long one, which had %v of CPU time", len(names)-1, long.cpu)
	flat(t, "the long run", long.all)
	for _, args := range looped {
		flat(t, args, ends[args])
	}
	if out, err := s.tool("cleanup").CombinedOutput(); err != nil || !strings.Contains(string(out), "nothing to clean up") {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	for _, l := range before.left(t, time.Minute, []string{s.base}, append(names, long.id)...) {
		t.Error(l)
	}
}

// flat compares the medians of the second quarter and of the last one. In the first quarter a
// runtime fills what it fills once.
func flat(t *testing.T, name string, all []used) {
	t.Helper()
	n := len(all)
	if n < 8 {
		t.Logf("%s: seen %d times, too few to compare", name, n)
		return
	}
	// Of each window tare keeps what decides when to stop, less than half of its line.
	log := func(u used) float64 { return u.log }
	kept := (median(all[n*3/4:], log) - median(all[n/4:n/2], log)) / 2
	for _, of := range []struct {
		name string
		get  func(used) float64
		most float64 // that it may grow by, beyond 5 %
	}{
		{"bytes of memory", func(u used) float64 { return u.rss }, 2<<20 + max(0, kept)},
		{"descriptors", func(u used) float64 { return u.descriptors }, 1},
		{"threads", func(u used) float64 { return u.threads }, 2},
	} {
		early, late := median(all[n/4:n/2], of.get), median(all[n*3/4:], of.get)
		t.Logf("%s: %s of tare, seen %d times in %v: %.0f, then %.0f", name, of.name, n, all[n-1].at.Round(time.Second), early, late)
		if late > 1.05*early+of.most {
			t.Errorf("%s: %s grew from %.0f to %.0f", name, of.name, early, late)
		}
	}
	t.Logf("%s: the record had %.1f MB", name, all[n-1].log/1e6)
}

func median(all []used, get func(used) float64) float64 {
	var values []float64
	for _, u := range all {
		values = append(values, get(u))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
