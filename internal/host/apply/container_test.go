package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// started starts a container that uses CPU time, and returns its name.
func started(t *testing.T, e engine.Engine, flags ...string) string {
	t.Helper()
	name := fmt.Sprintf("applied-%d-%s", os.Getpid(), strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")))
	c := engine.Container{
		Name: name, Owner: "r1", Root: root(t), Args: []string{"/bin/busybox", "sh", "-c", "while :; do :; done"}, Dir: "/", HostNetwork: true, Parent: name + "-" + e.Name(),
	}
	t.Cleanup(func() {
		if err := e.Remove(context.Background(), name, "r1"); err != nil && !errors.Is(err, engine.ErrNone) {
			t.Error(err)
		}
		of, _ := filepath.Glob("/sys/fs/cgroup/*/" + c.Parent)
		for _, dir := range append(of, "/sys/fs/cgroup/"+c.Parent) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		}
	})
	if err := e.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(flags) > 0 {
		if err := e.Update(t.Context(), name, flags...); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Start(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return name
}

// Docker records what tare sets, the kernel has it, and both have the earlier value after the way back.
func TestDocker(t *testing.T) {
	testneed.Root(t)
	enginetest.Docker(t)
	e, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	name := started(t, e)
	for _, c := range []struct {
		key   record.SettingKey
		value string
	}{{record.KeyCPUMax, "0.5"}, {record.KeyCPUWeight, "50"}, {record.KeyCPUSet, "0"}} {
		t.Run(string(c.key), func(t *testing.T) { thereAndBack(t, e, name, c.key, c.value) })
	}
	for key, want := range map[record.SettingKey]string{
		record.KeyCPUIdle: noUpdate, record.KeyMemoryMax: noRemoveLimit, record.KeyNetwork: noNetwork, record.KeySeccomp: noSeccomp,
		record.KeyVolume: noVolume, record.KeySched: noSched, record.KeyBufferPool: noServer,
	} {
		refused(t, "docker:"+name, setting(key, "1"), want)
	}
	refused(t, "docker:applied-none", setting(record.KeyCPUMax, "1"), "no container applied-none")
	if err := e.Update(t.Context(), name, "--cpus", "1.5"); err != nil {
		t.Fatal(err)
	}
	p := planned(t, "docker:"+name, setting(record.KeyCPUMax, ""))
	if s := p.Steps[0]; s.From != "1.5" || s.To != decimal(float64(cpusHere())) {
		t.Errorf("a limit that is removed: %+v", s)
	}
	j := made(t, p)
	if err := p.Unmake(); err != nil || j.Left() != 0 || stateOf(t, p.step(0)) != NotSet {
		t.Errorf("back to 1.5 CPUs: %v, %d steps left", err, j.Left())
	}
}

// thereAndBack sets a value, reads it back from the engine and the kernel, and takes it back.
func thereAndBack(t *testing.T, e engine.Engine, name string, key record.SettingKey, value string) {
	t.Helper()
	before, err := e.Resources(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	inGroup := func() string {
		g, err := groupOf(before.Pid)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := inKernel(g, key)
		if !ok {
			t.Fatalf("the group of %s has no %s: %v", name, key, g.Dirs)
		}
		return got
	}
	was := inGroup()
	p := planned(t, e.Name()+":"+name, setting(key, value))
	made(t, p)
	if now := inGroup(); now == was || stateOf(t, p.step(0)) != InForce {
		t.Errorf("kernel: %s before, %s now; %s", was, now, stateOf(t, p.step(0)))
	}
	if err := p.step(0).Undo(nil); err != nil {
		t.Fatal(err)
	}
	if now := inGroup(); now != was || stateOf(t, p.step(0)) != NotSet {
		t.Errorf("kernel: %s before, %s after the way back; %s", was, now, stateOf(t, p.step(0)))
	}
}

// What somebody else set stays; a container that is gone, or another one with its name, is Gone.
func TestDockerChanges(t *testing.T) {
	testneed.Root(t)
	enginetest.Docker(t)
	e, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	name := started(t, e)
	p := planned(t, "container:"+name, setting(record.KeyCPUMax, "0.5"))
	if p.Target.Kind != kindDocker {
		t.Errorf("container: is %s", p.Target)
	}
	made(t, p)
	if err := e.Update(t.Context(), name, "--cpu-quota", "70000"); err != nil {
		t.Fatal(err)
	}
	if err := p.step(0).Undo(nil); err == nil || !strings.Contains(err.Error(), "somebody else changed it") {
		t.Errorf("changed meanwhile: %v", err)
	}
	if r, err := e.Resources(t.Context(), name); err != nil || r.CPUQuota != 70000 {
		t.Errorf("the other value is %d, %v", r.CPUQuota, err)
	}
	again := planned(t, "docker:"+name, setting(record.KeyCPUMax, "0.5"))
	if err := e.Update(t.Context(), name, "--cpu-quota", "60000"); err != nil {
		t.Fatal(err)
	}
	if err := again.Unchanged(t.Context()); err == nil || !strings.Contains(err.Error(), "somebody else changes it") {
		t.Errorf("changed between plan and change: %v", err)
	}
	if out, err := exec.Command("docker", "rm", "--force", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if s := stateOf(t, p.step(0)); s != Gone {
		t.Errorf("a removed container is %s", s)
	}
	if err := p.step(0).Undo(nil); err != nil {
		t.Errorf("undo of a removed container: %v", err)
	}
	started(t, e)
	if s := stateOf(t, p.step(0)); s != Gone {
		t.Errorf("another container of the name is %s", s)
	}
}

// Podman is asked like Docker. Version 4 keeps no record of its update and is refused.
func TestPodman(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "runc")
	e := engine.NewPodman(testneed.Tool(t, "podman"))
	e.Runtime = "runc"
	name := started(t, e)
	info, err := e.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(info.Version.Version, "4.") {
		refused(t, "container:"+name, setting(record.KeyCPUMax, "0.5"), noPodman4)
		return
	}
	thereAndBack(t, e, name, record.KeyCPUMax, "0.5")
}

// A name that both engines know needs the engine.
func TestBothEngines(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "runc")
	p := engine.NewPodman(testneed.Tool(t, "podman"))
	p.Runtime = "runc"
	enginetest.Docker(t)
	d, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	name := started(t, d)
	started(t, p)
	refused(t, "container:"+name, setting(record.KeyCPUMax, "0.5"), "Docker and Podman both have")
	planned(t, "docker:"+name, setting(record.KeyCPUMax, "0.5"))
}
