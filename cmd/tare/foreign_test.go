package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// beside are other processes beside a run, and what is looked at meanwhile.
type beside struct {
	t       *testing.T
	tree    *cgroup.Tree
	sibling cgroup.Group
	service cgroup.Group // in which tare is started too
	all     []*bystander
	stop    chan struct{}
	seen    chan []string
}

// ofOthers are the prefixes of control groups that are not tare's.
const ofOthers = "tare-others-"

func standBeside(t *testing.T) *beside {
	t.Helper()
	tree, err := cgroup.Detect("/")
	must(t, err)
	b := &beside{t: t, tree: tree, stop: make(chan struct{}), seen: make(chan []string)}
	for name, group := range map[string]*cgroup.Group{"sibling": &b.sibling, "service": &b.service} {
		*group, err = tree.Make(fmt.Sprintf("%s%s%d", ofOthers, name, os.Getpid()), nil)
		must(t, err)
		t.Cleanup(func() { must(t, group.Kill()); must(t, group.Remove()) })
	}
	const nobody = 65534
	b.all = []*bystander{
		stand(t, "busy, in the root group", "busy", nil, 0),
		stand(t, "asleep, in the root group", "asleep", nil, 0),
		stand(t, "busy, in a group beside tare's", "busy", &b.sibling, 0),
		stand(t, "asleep, in the group of whoever started tare", "asleep", &b.service, 0),
		stand(t, "asleep, as nobody", "asleep", nil, nobody),
	}
	go b.look()
	return b
}

// look looks at every control group that is not tare's for a freeze, and at every process outside
// of tare's groups for a stop. It asks the kernel: lost time proves nothing, since a busy host
// takes a second from a process now and then. The thread has a real-time priority, so that a busy
// host does not keep it from looking.
func (b *beside) look() {
	_, undo, _ := sched.Protect()
	defer undo()
	seen := map[string]bool{}
	for before := stoppedNow(); ; {
		select {
		case <-b.stop:
			var all []string
			for s := range seen {
				all = append(all, s)
			}
			slices.Sort(all)
			b.seen <- all
			return
		default:
		}
		sched.SleepUntil(sched.Monotonic() + int64(10*time.Millisecond))
		for _, group := range frozenNow() {
			seen["frozen: group "+group] = true
		}
		for pid, s := range stoppedNow() {
			if before[pid] == "" {
				seen["stopped: process "+pid+" "+s] = true
			}
		}
	}
}

// frozenNow returns the frozen control groups that are not tare's.
func frozenNow() (all []string) {
	for _, top := range []string{"/sys/fs/cgroup/freezer", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"} {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil
			}
			if strings.HasPrefix(d.Name(), "tare-") && !strings.HasPrefix(d.Name(), ofOthers) {
				return fs.SkipDir
			}
			if s := read(filepath.Join(path, "freezer.state")); s != "" && s != "THAWED" || strings.Contains(read(filepath.Join(path, "cgroup.events")), "frozen 1") {
				all = append(all, path)
			}
			return nil
		})
	}
	return all
}

// stoppedNow returns the stopped or traced processes outside of tare's control groups, by pid.
func stoppedNow() map[string]string {
	all := map[string]string{}
	pids, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range pids {
		_, after, _ := strings.Cut(read(p+"/stat"), ") ")
		if after == "" || !strings.ContainsAny(after[:1], "Tt") {
			continue
		}
		if groups := strings.ReplaceAll(read(p+"/cgroup"), ofOthers, ""); !strings.Contains(groups, "/tare-") {
			all[filepath.Base(p)] = after[:1] + " " + strings.ReplaceAll(read(p+"/cmdline"), "\x00", " ")
		}
	}
	return all
}

// end says what was done to the others.
func (b *beside) end() (all []string) {
	b.t.Helper()
	close(b.stop)
	all = <-b.seen
	if os.Getenv("TARETEST_SHARED_HOST") != "" { // others stop and freeze theirs
		all = slices.DeleteFunc(all, func(s string) bool { return !strings.Contains(s, ofOthers) && !strings.Contains(s, "somebody else's") })
	}
	for _, o := range b.all {
		for _, d := range o.end(b.t) {
			all = append(all, o.name+": "+d)
		}
	}
	return all
}

// TestForeign: whatever a run does, and whatever takes back what a killed run left, no process
// outside of tare's control groups is frozen, stopped or signalled.
func TestForeign(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	testneed.Tool(t, "podman")
	testneed.Tool(t, "python3")
	t.Run("what is done is seen", foreignSees)
	enginetest.Docker(t)
	for _, args := range []string{
		"run quick --workload=commit --arms=host,container --set=commit.log=1MiB --budget=3s",
		"run colocation --budget=10s",
		"run mysql-colocation --set=mysql.size=1000 --budget=16s",
		"run quick --workload=commit --arms=host,crun,podman,docker,gvisor --set=commit.log=1MiB --budget=8s",
		"killed run colocation --budget=10m",
		"killed run quick --workload=commit --arms=host,crun,podman,docker --set=commit.log=1MiB --budget=10m",
	} {
		t.Run(args, func(t *testing.T) { besideRun(t, strings.Fields(args)) })
	}
}

func besideRun(t *testing.T, args []string) {
	state := t.TempDir()
	tool := func(args ...string) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "XDG_CACHE_HOME="+state, hostlock.DirEnv+"="+state)
		return cmd
	}
	killed := args[0] == "killed"
	if killed {
		args = args[1:]
	}
	b := standBeside(t)
	run := tool(append(args, "-q", "--force", "-o", filepath.Join(state, "result"))...)
	var said strings.Builder
	run.Stdout, run.Stderr = &said, &said
	must(t, run.Start())
	must(t, b.service.Add(run.Process.Pid))
	if killed {
		time.Sleep(4 * time.Second)
		must(t, run.Process.Kill())
	}
	if err := run.Wait(); (err != nil) != killed {
		t.Errorf("%v\n%s", err, said.String())
	}
	if out, err := tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	for _, d := range b.end() {
		t.Error(d)
	}
}

// foreignSees does to the others what a run must not do.
func foreignSees(t *testing.T) {
	b := standBeside(t)
	time.Sleep(300 * time.Millisecond)
	root, asleep := b.all[0].cmd.Process, b.all[1].cmd.Process
	const held = 300 * time.Millisecond
	must(t, root.Signal(syscall.SIGSTOP))
	time.Sleep(held)
	must(t, root.Signal(syscall.SIGCONT))
	must(t, asleep.Signal(syscall.SIGUSR1))
	freezer, err := b.sibling.Freezer()
	must(t, err)
	must(t, freezer.Freeze(5*time.Second))
	time.Sleep(held)
	must(t, freezer.Thaw())
	must(t, freezer.Close())
	time.Sleep(100 * time.Millisecond)
	all := strings.Join(b.end(), "\n")
	for _, want := range []string{
		"busy, in the root group: stopped by", "asleep, in the root group: signalled: SIGUSR1",
		"frozen: group", ofOthers + "sibling", "stopped: process",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q was not seen in:\n%s", want, all)
		}
	}
	for _, not := range []string{"nobody: ", "whoever started tare: "} {
		if strings.Contains(all, not) {
			t.Errorf("%q was seen in:\n%s", not, all)
		}
	}
}
