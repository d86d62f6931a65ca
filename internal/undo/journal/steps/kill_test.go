package steps

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
)

// helperEnv makes the test binary a helper: its value says which.
const helperEnv = "TARETEST_JOURNAL_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperEnv) {
	case "":
		os.Exit(m.Run())
	case "undo":
		r, err := journal.Undo(os.Args[1], os.Args[2], Kinds())
		if err != nil || len(r.Failed) > 0 {
			fmt.Println(r, err)
			os.Exit(1)
		}
	case "changes":
		makeChanges(os.Args[1], os.Args[2], os.Args[3])
	}
}

func helper(mode string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+mode)
	return cmd
}

// makeChanges changes the host and undoes it, again and again, as arms do.
func makeChanges(state, run, scratch string) {
	j, err := journal.Open(state, run)
	check(err)
	tree, err := cgroup.Detect("/")
	check(err)
	os.Stdout.WriteString("ready\n")
	for i := 0; ; i++ {
		dir := filepath.Join(scratch, fmt.Sprintf("tare-%s-%d", run, i))
		tokenDir, err := j.Add(Directory{dir})
		check(err)
		check(os.MkdirAll(filepath.Join(dir, "m"), 0o755))
		tokenMount, err := j.Add(Mount{filepath.Join(dir, "m")})
		check(err)
		check(unix.Mount("tmpfs", filepath.Join(dir, "m"), "tmpfs", 0, ""))
		check(os.WriteFile(filepath.Join(dir, "m", "file"), []byte("x"), 0o600))

		path := fmt.Sprintf("tare-%s/%d", run, i)
		plan, err := tree.Plan(path, []string{"cpu", "pids"})
		check(err)
		tokenGroup, err := j.Add(Group{plan})
		check(err)
		g, err := tree.Make(path, []string{"cpu", "pids"})
		check(err)
		cmd := exec.Command("sleep", "1000")
		cmd.Dir = filepath.Join(dir, "m")
		// Until it is in its group it must end with this process.
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		runtime.LockOSThread()
		check(cmd.Start())
		check(g.Add(cmd.Process.Pid))
		s, err := ProcessOf(cmd.Process.Pid)
		check(err)
		tokenProcess, err := j.Add(s)
		check(err)

		if i%2 == 0 {
			check(cmd.Process.Kill())
		}
		check(g.Remove())
		cmd.Wait()
		check(j.Done(tokenProcess))
		check(j.Done(tokenGroup))
		check(Unmount(filepath.Join(dir, "m")))
		check(j.Done(tokenMount))
		if i%3 != 0 { // some are left for the end
			check(RemoveDirectory(dir))
			check(j.Done(tokenDir))
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestKilledAnywhere kills a process that changes the host at random moments: each time the
// journal alone is enough to clean the host.
func TestKilledAnywhere(t *testing.T) {
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err == nil {
		err = tree.Can("cpu", "pids")
	}
	testneed.Feature(t, "cgroup", err)
	state, scratch := t.TempDir(), t.TempDir()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range 20 {
		run := fmt.Sprintf("k%dx%d", os.Getpid(), i)
		cmd := helper("changes", state, run, scratch)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i > 0 { // the first is killed while it starts
			out.Read(make([]byte, 16))
		}
		time.Sleep(time.Duration(random.Int64N(int64(60 * time.Millisecond))))
		cmd.Process.Kill()
		err = cmd.Wait()
		if s := cmd.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() {
			t.Fatalf("it ended by itself: %v", err)
		}
		left, err := journal.Leftovers(state, Kinds())
		if err != nil || len(left) > 1 || len(left) == 1 && left[0].Live {
			t.Fatalf("seed %d: %+v %v", seed, left, err)
		}
		for _, l := range left {
			undone(t, state, l.Header.Run)
		}
		isClean(t, tree, run, scratch, state)
	}
}

func isClean(t *testing.T, tree *cgroup.Tree, run, scratch, state string) {
	t.Helper()
	if found, err := tree.Find("tare-" + run); err != nil || len(found) > 0 {
		t.Errorf("groups left: %v %v", found, err)
	}
	if found, _ := filepath.Glob(filepath.Join(scratch, "*")); len(found) > 0 {
		t.Errorf("directories left: %v", found)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), "tare-"+run) {
		t.Errorf("mounts left: %v", err)
	}
	if found, _ := filepath.Glob(journaltest.File(state, "*")); len(found) > 0 {
		t.Errorf("journals left: %v", found)
	}
}
