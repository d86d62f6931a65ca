package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// victims are runs that are killed: all presets that a host without a cluster has, with little
// data, built-in loads under all layers, neighbours with every mechanism, containers of every
// engine, a sandbox, file systems of their own, a calibration. Victims after "fresh" find no data
// set in the cache, and are mostly killed while they prepare one. Victims after "dumped" load a dump, those after "entered"
// run in a container from which tare enters the host, those after "continued" add to a result.
var victims = []string{
	"run quick --workload=oltp-read-write",
	"run quick --workload=commit",
	"fresh run redis-layers --workload=set --set=set.keys=100000",
	"run colocation",
	"run quick --set=commit.log=1MiB --workload=commit --arms=host,crun,podman,docker",
	"run quick --set=commit.log=1MiB --workload=commit --arms=rootfs --volume=loop:ext4",
	"run mysql-layers --workload=read-only --set=read-only.size=1000",
	"run quick --set=commit.log=1MiB --workload=commit --arms=host,gvisor",
	"run mysql-colocation --set=mysql.size=1000",
	"run quick --workload=rpc",
	"fresh run postgres-layers --workload=tpcb --set=tpcb.scale=1",
	"run quick --set=commit.log=1MiB --workload=commit --volume=bind --volume=layer --volume=loop:xfs --volume=loop:btrfs --volume=tmpfs",
	"run postgres-layers --workload=select-only --set=select-only.scale=1",
	"calibrate",
	"run clickhouse-colocation --set=clickhouse.rows=10000",
	"fresh run mysql-volumes --workload=write-only --set=write-only.size=1000",
	"run storage --workload=random --set=random.size=4MiB --volume=bind --volume=loop:ext4 --volume=tmpfs",
	"run redis-layers --workload=socket --set=socket.keys=1000",
	"run quick --workload=oltp-read-only,rpc-open",
	"fresh run clickhouse-colocation --set=clickhouse.rows=10000",
	"dumped run mysql-layers --arms=host,cgroup",
	"entered run quick --set=commit.log=1MiB --workload=commit --arms=host,runc",
	"continued run quick --set=commit.log=1MiB --workload=commit --arms=host,cgroup",
	"dumped run postgres-layers --arms=host,cgroup",
}

// campaign is what the kills of a campaign share.
type campaign struct {
	rng   *rand.Rand
	cache string // with the data sets of victims that are not fresh

	kills, cleanups, records, lines int
}

// killed is a run that is killed. It is in a control group of its own, as a service is.
type killed struct {
	*campaign
	t     *testing.T
	state string // and what else is this kill's own, in one directory
	fresh bool
	// entered says that the runs are in a container. They leave k.group when they enter the host.
	entered bool
	group   cgroup.Group
	runs    []*exec.Cmd
	said    bytes.Buffer
}

func (k *killed) tool(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+k.state, "XDG_CACHE_HOME="+k.caches(), hostlock.DirEnv+"="+k.state)
	return cmd
}

// caches returns the directory of its cache: its own, or that of the campaign.
func (k *killed) caches() string {
	if k.fresh {
		return filepath.Join(k.state, "cache")
	}
	return k.cache
}

// unfinished returns the data sets that it left unfinished. No other process prepares one there:
// the kills of a campaign follow each other.
func (k *killed) unfinished() []string {
	parts, _ := filepath.Glob(filepath.Join(k.caches(), "tare", "data", ".*.part-*")) // the pattern is good
	return parts
}

func (k *killed) dir(i int) string { return filepath.Join(k.state, fmt.Sprint("result", i)) }

func (k *killed) scratch() string { return filepath.Join(k.state, "scratch") }

// start starts another run.
func (k *killed) start(args ...string) {
	k.t.Helper()
	args = append(args, "--force", "--budget=60s")
	switch further := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--continue=") }); {
	case args[0] != "run":
		args = append(args, "-o", k.dir(len(k.runs)))
	case further:
		args = append(args, "--no-progress")
	default:
		args = append(args, "-o", k.dir(len(k.runs)), "--no-progress", "--scratch", k.scratch())
	}
	cmd := k.tool(args...)
	if k.entered {
		cmd = k.contained(args...)
	}
	cmd.Stdout, cmd.Stderr = &k.said, &k.said
	if err := errors.Join(cmd.Start(), k.group.Add(cmd.Process.Pid)); err != nil {
		k.t.Fatal(err)
	}
	k.runs = append(k.runs, cmd)
}

// alone kills the runs and nothing that they started.
func (k *killed) alone() {
	k.killContainer()
	for _, cmd := range k.runs {
		_ = cmd.Process.Kill()
	}
	k.wait()
}

// wait waits for the runs, which were killed and did not end by themselves.
func (k *killed) wait() {
	k.t.Helper()
	for _, cmd := range k.runs {
		_ = cmd.Wait()
		k.kills++
		if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
			k.t.Errorf("%v ended by itself: %v", cmd.Args[2:], cmd.ProcessState)
		}
	}
	if k.entered {
		k.endInside()
	}
}

// unguarded kills the guards, then the runs: cleanup has to take everything back.
func (k *killed) unguarded() {
	for _, g := range k.guards() {
		_ = syscall.Kill(g, syscall.SIGKILL)
	}
	k.alone()
	for _, g := range k.guards() { // of a run that was starting it
		_ = syscall.Kill(g, syscall.SIGKILL)
	}
}

// guards returns the processes of the runs' guards.
func (k *killed) guards() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		args := strings.Split(read(dir+"/cmdline"), "\x00")
		if slices.Contains(args, launch.GuardCommand) && strings.Contains(read(dir+"/environ"), "XDG_STATE_HOME="+k.state+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (k *killed) cleanup() {
	k.t.Helper()
	if out, err := k.tool("cleanup").CombinedOutput(); err != nil {
		k.t.Errorf("cleanup: %v\n%s", err, out)
	}
}

// killedCleanup is a cleanup that is killed in the middle.
func (k *killed) killedCleanup() {
	cmd := k.tool("cleanup")
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	time.Sleep(time.Duration(k.rng.IntN(200)) * time.Millisecond)
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err != nil {
		k.cleanups++
	}
}

// ways are the ways in which runs end here. Their guards, a cleanup, or both at the same time take
// back what they leave.
var ways = map[string]func(k *killed){
	"the process": (*killed).alone,
	"its whole control group": func(k *killed) {
		if err := k.group.Kill(); err != nil {
			k.t.Error(err)
		}
		if k.entered { // it is in none of its container's
			k.alone()
			return
		}
		k.wait()
	},
	"the process, and a cleanup":                     func(k *killed) { k.alone(); k.cleanup() },
	"the process, and a cleanup that is killed":      func(k *killed) { k.alone(); k.killedCleanup() },
	"its guard and it, and a cleanup":                func(k *killed) { k.unguarded(); k.cleanup() },
	"its guard and it, and cleanups that are killed": func(k *killed) { k.unguarded(); k.killedCleanup(); k.killedCleanup(); k.cleanup() },
	"two at once": func(k *killed) {
		k.start("run", "quick", "--workload=commit", "--set=commit.log=1MiB")
		time.Sleep(time.Duration(k.rng.IntN(3000)) * time.Millisecond)
		k.alone()
	},
}

// TestKill kills runs with SIGKILL at random instants, alone and in other ways. Each time the
// record must be readable as far as it got, and nothing may be left on the host. TARETEST_KILLS is
// how often, TARETEST_SEED repeats a campaign, TARETEST_VICTIM is a word of the runs.
func TestKill(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	kills, err := strconv.Atoi(setting("TARETEST_KILLS", "14"))
	if err != nil {
		t.Fatalf("TARETEST_KILLS: %v", err)
	}
	seed, err := strconv.ParseUint(setting("TARETEST_SEED", fmt.Sprint(rand.Uint64())), 10, 64)
	if err != nil {
		t.Fatalf("TARETEST_SEED: %v", err)
	}
	t.Logf("seed %d", seed)
	testneed.Tool(t, "podman")
	enginetest.Docker(t)
	c := &campaign{rng: rand.New(rand.NewPCG(seed, seed)), cache: t.TempDir()}
	names := slices.Sorted(maps.Keys(ways))
	victims := slices.DeleteFunc(slices.Clone(victims), func(v string) bool { return !strings.Contains(v, os.Getenv("TARETEST_VICTIM")) })
	first := c.rng.IntN(len(victims)) // a short campaign has some, and each time others
	for i := range kills {
		victim, way := victims[(first+i)%len(victims)], names[c.rng.IntN(len(names))]
		after := time.Duration(math.Pow(c.rng.Float64(), 1.5) * float64(9*time.Second)) // there is more to interrupt at the begin
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Logf("%s, killed after %.1f s: %s", victim, after.Seconds(), way)
			c.kill(t, strings.Fields(victim), after, ways[way])
		})
	}
	t.Logf("%d runs and %d cleanups were killed; %d of the runs had a record, with %d lines in all", c.kills, c.cleanups, c.records, c.lines)
}

func (c *campaign) kill(t *testing.T, args []string, after time.Duration, way func(*killed)) {
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	k := &killed{campaign: c, t: t, state: t.TempDir()}
	how := args[0]
	if k.fresh, k.entered = how == "fresh" || how == "dumped", how == "entered"; how != "run" && how != "calibrate" {
		args = args[1:]
	}
	must(t, os.MkdirAll(k.scratch(), 0o755))
	switch how {
	case "dumped":
		args = append(args, k.dumped()...)
	case "continued":
		args = []string{"run", k.begin(args)}
	}
	before := lookAtHost(t, k.scratch())
	if k.group, err = tree.Make(fmt.Sprint("tare-service", os.Getpid()), nil); err != nil {
		t.Fatal(err)
	}
	k.start(args...)
	time.Sleep(after)
	witnessed := k.witness()
	way(k)
	ids := []string{k.state}
	for i := range k.runs {
		id := runID(k.dir(i))
		if id != "" {
			c.records++
			ids = append(ids, id)
		}
		c.lines += readable(t, k.tool, k.dir(i), witnessed[k.dir(i)])
	}
	k.cleanup() // of what was killed before it had a guard
	must(t, errors.Join(k.group.Kill(), k.group.Remove()))
	for _, left := range before.left(t, time.Minute, []string{k.scratch()}, ids...) {
		t.Error(left)
	}
	journals, _ := filepath.Glob(filepath.Join(k.state, "tare", "journal", "*"))
	for _, left := range append(k.unfinished(), journals...) {
		t.Errorf("left: %s", left)
	}
	if t.Failed() {
		t.Logf("it said:\n%s", k.said.Bytes())
	}
}

// witness is what the records hold before the kill, in whole lines.
func (k *killed) witness() map[string][]byte {
	all := map[string][]byte{}
	for i := range k.runs {
		b, _ := os.ReadFile(filepath.Join(k.dir(i), record.RecordFile))
		all[k.dir(i)] = b[:bytes.LastIndexByte(b, '\n')+1]
	}
	return all
}

// readable counts the lines of the record after a kill. It fails unless tare report reads the
// record, everything that was there before is still there, and no block is missing between others.
// A kill before the record exists leaves nothing to read.
func readable(t *testing.T, tool func(...string) *exec.Cmd, dir string, before []byte) int {
	t.Helper()
	if runID(dir) == "" {
		return 0
	}
	if b, err := os.ReadFile(filepath.Join(dir, record.RecordFile)); err != nil || !bytes.HasPrefix(b, before) {
		t.Errorf("of %d bytes that were in the record not all are: %v", len(before), err)
	}
	r, err := record.Read(dir)
	if err != nil {
		t.Errorf("the record is not readable: %v", err)
		return 0
	}
	if out, err := tool("report", dir).CombinedOutput(); err != nil {
		t.Errorf("tare report: %v\n%s", err, out)
	}
	next := map[string]int{}
	for _, l := range r.Lines {
		if b := l.Block; b != nil {
			of := fmt.Sprint(b.Workload, b.Generation)
			if b.Number != next[of] {
				t.Errorf("block %d of %s follows, want %d", b.Number, of, next[of])
			}
			next[of] = b.Number + 1
		}
	}
	return len(r.Lines)
}

// runID returns the id of the run in a result directory; empty if the kill came before the first
// line of the record.
func runID(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, record.RecordFile))
	if err != nil {
		return ""
	}
	first, _, whole := strings.Cut(string(b), "\n")
	var l record.Line
	if !whole || json.Unmarshal([]byte(first), &l) != nil || l.Run == nil {
		return ""
	}
	return l.Run.ID
}

// Programs that install a database start others, which do not end with their parents. None of them
// may go on writing while cleanup removes what they made.
func TestKillWhatInstalls(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	testneed.Tool(t, "mariadbd")
	tree, err := cgroup.Detect("/")
	must(t, err)
	k := &killed{campaign: &campaign{}, t: t, state: t.TempDir(), fresh: true}
	must(t, os.MkdirAll(k.scratch(), 0o755))
	k.group, err = tree.Make(fmt.Sprint("tare-service", os.Getpid()), nil)
	must(t, err)
	defer func() { must(t, errors.Join(k.group.Kill(), k.group.Remove())) }()
	k.start("run", "mysql-layers", "--workload=read-only", "--set=read-only.size=1000")
	var servers []string
	for end := time.Now().Add(time.Minute); len(servers) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			k.alone()
			t.Fatalf("nothing installs a database:\n%s", k.said.Bytes())
		}
		servers = slices.DeleteFunc(processesOf([]string{k.state}), func(p string) bool { return !strings.Contains(p, "--bootstrap") })
	}
	k.unguarded()
	k.cleanup()
	for _, p := range processesOf([]string{k.state}) {
		t.Errorf("left: %s", p)
	}
	if parts := k.unfinished(); len(parts) > 0 {
		t.Errorf("left: %v", parts)
	}
}
