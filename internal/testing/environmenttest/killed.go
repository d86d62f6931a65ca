package environmenttest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
)

const holdCommand = "__conform_hold"

// span is the longest time until a kill. An arm can be opened, used and closed within it.
const span = time.Second

// killed kills a process that opens, uses and closes arms, at random moments. Its journal alone takes
// back what it left.
func (s suite) killed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	for i := range s.opts.Kills {
		before := TakeSnapshot(t)
		state := t.TempDir()
		spec := newSpec(t, s, nil)
		s.holdAndKill(t, spec, state, time.Duration(random.Int64N(int64(span))))
		report, err := journal.Undo(state, spec.Run, s.kinds())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("kill %d: %v", i, err)
		}
		for _, f := range report.Failed {
			t.Errorf("kill %d: %+v: %v", i, f.Step, f.Err)
		}
		await(t, "every process to be gone", func() bool { return len(withToken(spec.Run)) == 0 })
		if names, err := os.ReadDir(spec.Scratch); err != nil || len(names) > 0 {
			t.Errorf("kill %d: left in the scratch directory: %v %v", i, names, err)
		}
		before.MustEqual(t, spec.Run)
		if t.Failed() {
			return
		}
	}
}

// holdAndKill runs hold in another process and kills it after a time.
func (s suite) holdAndKill(t *testing.T, spec environment.Spec, state string, after time.Duration) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", holdCommand, s.env.Name(), state, spec.Run, spec.Scratch, spec.Data, fmt.Sprint(spec.Bind), spec.Container.Image, spec.Container.Network)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	time.Sleep(after)
	kill := cmd.Process.Kill()
	_ = cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); err != nil || kill != nil || !ws.Signaled() {
		t.Fatalf("it ended by itself: %v %v %v", cmd.ProcessState, err, kill)
	}
}

// hold opens, uses and closes arms until it is killed. holdAndKill passes the arguments.
func hold(envs []environment.Environment, args []string) error {
	i := slices.IndexFunc(envs, func(e environment.Environment) bool { return e.Name() == args[0] })
	if i < 0 {
		return fmt.Errorf("no environment %s", args[0])
	}
	tree, err := cgroup.Detect("/")
	if err != nil || tree.Can() != nil {
		tree = nil
	}
	fmt.Println("ready")
	j, err := journal.Open(args[1], args[2])
	if err != nil {
		return err
	}
	spec := environment.Spec{Run: args[2], Scratch: args[3], Data: args[4], Bind: args[5] == "true", Port: 4000, Journal: j, Groups: tree}
	spec.Container.Image, spec.Container.Network = args[6], args[7]
	for n := 0; ; n++ {
		spec.Arm = fmt.Sprint("arm", n)
		if err := use(envs[i], spec); err != nil {
			return err
		}
	}
}

// use opens an arm, runs, freezes and thaws two processes, and closes it.
func use(env environment.Environment, spec environment.Spec) error {
	arm, err := env.Open(context.Background(), spec)
	if err != nil {
		return err
	}
	file, _, err := makeWords(true) // counters, which all environments accept
	if err != nil {
		return err
	}
	defer file.Close()
	for _, outside := range []bool{false, true} {
		if _, err := arm.Start(context.Background(), environment.Process{
			Args: []string{Command, spec.Run, "count"}, Files: []*os.File{file}, Outside: outside,
		}); err != nil {
			return err
		}
	}
	if pause := arm.Place().Pause; pause != nil {
		for range 5 {
			if err := pause.Freeze(bound); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
			if err := pause.Thaw(); err != nil {
				return err
			}
		}
	}
	return arm.Close()
}
