package launchtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Together opens all environments of one run at the same time, starts a process in each, and closes all
// at the same time.
func Together(t *testing.T, envs []environment.Environment, tree *cgroup.Tree) {
	t.Helper()
	j, err := journal.Open(t.TempDir(), runID())
	if err != nil {
		t.Fatal(err)
	}
	spec := environment.Spec{Run: j.Run(), Scratch: t.TempDir(), Journal: j, Groups: tree}
	arms := make([]environment.OpenArm, len(envs))
	each := func(f func(i int) error) {
		t.Helper()
		var wg sync.WaitGroup
		for i := range envs {
			wg.Go(func() {
				if err := f(i); err != nil {
					t.Errorf("%s: %v", envs[i].Name(), err)
				}
			})
		}
		wg.Wait()
	}
	each(func(i int) (err error) {
		s := spec
		s.Arm, s.Port = envs[i].Name(), 5000+i
		arms[i], err = envs[i].Open(t.Context(), s)
		return err
	})
	each(func(i int) error {
		if arms[i] == nil {
			return nil
		}
		Start(t, arms[i], environment.Process{})
		_, err := arms[i].Settings()
		return err
	})
	each(func(i int) error {
		if arms[i] == nil {
			return nil
		}
		return arms[i].Close()
	})
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if left := groups(spec.Run); len(left) > 0 {
		t.Errorf("groups left: %v", left)
	}
}

// OutOfMemory limits the memory of an arm to less than its load needs.
func OutOfMemory(t *testing.T, e environment.Environment) {
	a := Open(t, e, nil)
	g := a.Place().Group
	file := "memory.max"
	if _, err := g.Read("memory", file); err != nil {
		file = "memory.limit_in_bytes"
	}
	if err := g.Set("memory", file, fmt.Sprint(64<<20)); err != nil {
		t.Fatal(err)
	}
	p, _ := Start(t, a, environment.Process{Args: []string{Look, "eat"}})
	<-p.Done()
	if got := p.Exit(); got != (environment.Exit{Code: -1, Signal: "SIGKILL", OOM: true}) {
		t.Errorf("ended as %+v, want by SIGKILL for want of memory", got)
	}
}

// eat allocates memory until it is killed.
func eat() int {
	var all [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
		if len(all) > 256 {
			return 3 // nobody stopped it
		}
	}
}
