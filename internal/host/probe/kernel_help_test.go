package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// loadEnv makes the test binary a load: its value is a kind and a directory.
const loadEnv = "TARETEST_PROBE_LOAD"

func TestMain(m *testing.M) {
	if kind := os.Getenv(loadEnv); kind != "" {
		_, _ = io.ReadFull(os.Stdin, make([]byte, 1)) // until it is in its group
		load(kind, os.Getenv("TARETEST_PROBE_DIR"))
	}
	os.Exit(m.Run())
}

// load does one thing until it is killed.
func load(kind, dir string) {
	switch kind {
	case "idle":
		time.Sleep(time.Hour)
	case "spin":
		for i := 0; ; i++ {
		}
	case "spin two on one CPU":
		var one unix.CPUSet
		one.Set(0)
		for range 2 {
			go func() {
				runtime.LockOSThread()
				_ = unix.SchedSetaffinity(0, &one)
				for i := 0; ; i++ {
				}
			}()
		}
		time.Sleep(time.Hour)
	case "sleep often":
		for {
			time.Sleep(100 * time.Microsecond)
		}
	case "sync", "sync a device":
		name, flags := filepath.Join(dir, "synced"), os.O_CREATE
		if kind != "sync" {
			name, flags = dir, unix.O_DIRECT
		}
		f, err := os.OpenFile(name, os.O_WRONLY|flags, 0o644)
		page, mapErr := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE) // aligned
		for err = errors.Join(err, mapErr); err == nil; {
			_, err = f.WriteAt(page, 0)
			err = errors.Join(err, unix.Fdatasync(int(f.Fd())))
		}
		panic(err)
	case "read":
		for buf := make([]byte, 1<<20); ; {
			f, err := os.Open(filepath.Join(dir, "big"))
			for err == nil {
				_, err = f.Read(buf)
			}
			f.Close()
		}
	}
	panic("no such load: " + kind)
}

// groupHere makes a group on this machine, in every hierarchy there is.
func groupHere(t testing.TB) cgroup.Group {
	t.Helper()
	testneed.Root(t)
	const fs = "/sys/fs/cgroup"
	name := fmt.Sprintf("tare-probe-%d", os.Getpid())
	tree := &cgroup.Tree{V1: map[string]string{}}
	g := cgroup.Group{Tree: tree, Path: name, Dirs: map[string]string{}}
	add := func(mount string, names ...string) {
		dir := filepath.Join(mount, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			testneed.Feature(t, "control groups", err)
		}
		t.Cleanup(func() { removeGroup(t, dir) })
		for _, n := range names {
			g.Dirs[n] = dir
		}
	}
	if exists(fs + "/cgroup.controllers") {
		add(fs, cgroup.Unified, "cpu", "cpuacct", "memory", "io", "blkio")
		return g
	}
	for _, c := range []string{"cpu", "cpuacct", "memory", "blkio", cgroup.Unified} {
		if mount := filepath.Join(fs, c); exists(filepath.Join(mount, "cgroup.procs")) {
			add(mount, c)
			tree.V1[c] = mount
		}
	}
	return g
}

// removeGroup waits for the kernel to notice that the last process is gone.
func removeGroup(t testing.TB, dir string) {
	var err error
	for range 200 {
		if err = unix.Rmdir(dir); err == nil || err == unix.ENOENT {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("remove %s: %v", dir, err)
}

// set writes a setting of the group and reads it back.
func set(t testing.TB, g cgroup.Group, controller, file, value string) {
	t.Helper()
	path := filepath.Join(g.Dirs[controller], file)
	err := os.WriteFile(path, []byte(value), 0)
	testneed.Feature(t, controller+" control group of version 1", err)
}

// start starts a load in the group.
func start(t testing.TB, g cgroup.Group, kind, dir string) (pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), loadEnv+"="+kind, "TARETEST_PROBE_DIR="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, d := range g.Dirs {
		if err := os.WriteFile(filepath.Join(d, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// grows waits until each of the metrics has grown beyond its bound.
func grows(t *testing.T, target Target, bounds map[string]float64) {
	t.Helper()
	s := open(t, target)
	before := s.Read(nil)
	var values map[string]record.Value
	for range 150 {
		time.Sleep(100 * time.Millisecond)
		values = s.Values(before, s.Read(nil))
		left := 0
		for name, bound := range bounds {
			if x, ok := values[name].Get(); !ok || x <= bound {
				left++
			}
		}
		if left == 0 {
			checkExplained(t, values)
			return
		}
	}
	for name, bound := range bounds {
		t.Errorf("%s is %v after 15 s, want more than %v", name, values[name], bound)
	}
}

func here(g cgroup.Group, pids ...int) Target {
	return Target{Root: "/", Group: g, Pids: pids, Host: true}
}
