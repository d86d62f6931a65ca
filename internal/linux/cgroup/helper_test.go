package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// helperEnv makes the test binary a process to be frozen: its value is what
// the process does, see helpers.
const helperEnv = "TARETEST_CGROUP_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperEnv); mode != "" {
		helpers[mode](openShared())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// shared is the memory that a helper and the test both see.
type shared [512]atomic.Uint64

// The words of shared.
const (
	wordTicks  = 0 // progress
	wordReady  = 1
	wordResult = 2 // from here on: what a helper found
)

const sharedFile = 3 // inherited descriptor

func openShared() *shared {
	data, err := unix.Mmap(sharedFile, 0, int(unsafe.Sizeof(shared{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*shared)(unsafe.Pointer(&data[0]))
}

// helpers are what a helper process does.
var helpers = map[string]func(*shared){
	"spin": func(s *shared) {
		s[wordReady].Add(1)
		for {
			s[wordTicks].Add(1)
		}
	},
	"sleep":     helpSleep,
	"fdatasync": helpSync,
	"blocked":   helpBlocked,
	"grab":      helpGrab,
	"fork":      helpFork,
	"deaf":      helpDeaf,
}

// helpSleep sleeps a lot and works a little, on 8 threads.
func helpSleep(s *shared) {
	for range 8 {
		go func() {
			runtime.LockOSThread()
			for {
				sleep(time.Millisecond)
				s[wordTicks].Add(1)
			}
		}()
	}
	s[wordReady].Add(1)
	select {}
}

// helpSync appends and syncs, on 4 threads.
func helpSync(s *shared) {
	for i := range 4 {
		go func() {
			f, err := os.Create(filepath.Join(os.Getenv("TARETEST_DIR"), fmt.Sprint("sync", os.Getpid(), "-", i)))
			if err != nil {
				panic(err)
			}
			for {
				f.Write(make([]byte, 4096))
				unix.Fdatasync(int(f.Fd()))
				s[wordTicks].Add(1)
			}
		}()
	}
	s[wordReady].Add(1)
	select {}
}

// helpGrab takes memory until it is stopped.
func helpGrab(s *shared) {
	s[wordReady].Add(1)
	var all [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
		s[wordTicks].Add(1)
		_ = all
	}
}

// helpFork has a child that outlives it.
func helpFork(s *shared) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperEnv+"=spin")
	cmd.ExtraFiles = []*os.File{os.NewFile(sharedFile, "shared")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	s[wordResult].Store(uint64(cmd.Process.Pid))
}

func helpDeaf(s *shared) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	s[wordReady].Add(1)
	for {
		time.Sleep(time.Hour)
	}
}

// process is a running helper.
type process struct {
	*exec.Cmd
	*shared
}

// start runs n helpers that share one memory and waits until all are ready.
func start(t testing.TB, mode string, n int) []process {
	t.Helper()
	fd, err := unix.MemfdCreate("shared", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "shared")
	defer file.Close()
	if err := file.Truncate(int64(unsafe.Sizeof(shared{}))); err != nil {
		t.Fatal(err)
	}
	data, err := unix.Mmap(fd, 0, int(unsafe.Sizeof(shared{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(data) })
	s := (*shared)(unsafe.Pointer(&data[0]))
	dir := t.TempDir()
	var all []process
	for range n {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), helperEnv+"="+mode, "GODEBUG=asyncpreemptoff=1", "GOGC=off", "TARETEST_DIR="+dir)
		cmd.ExtraFiles = []*os.File{file}
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, process{cmd, s})
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	}
	for mode != "fork" && s[wordReady].Load() < uint64(n) {
		time.Sleep(time.Millisecond)
	}
	return all
}

// moves says whether the helpers make progress within a while.
func (p process) moves(d time.Duration) bool {
	before := p.shared[wordTicks].Load()
	time.Sleep(d)
	return p.shared[wordTicks].Load() != before
}

// realTree is the tree of this machine, for tests that change it.
func realTree(t testing.TB) *Tree {
	t.Helper()
	testneed.Root(t)
	tree, err := Detect("/")
	if err == nil {
		err = tree.Can()
	}
	testneed.Feature(t, "cgroup", err)
	return tree
}

// testPath is the path of a group that is this test's own.
func testPath(t testing.TB, arm string) string {
	name := strings.ToLower(strings.Map(func(r rune) rune {
		if r == '/' || r == '#' {
			return '-'
		}
		return r
	}, t.Name()))
	return fmt.Sprintf("%s%d%s/%s", Prefix, os.Getpid(), name, arm)
}

// makeGroup makes a group for the time of the test.
func makeGroup(t testing.TB, tree *Tree, arm string, controllers ...string) Group {
	t.Helper()
	g, err := tree.Make(testPath(t, arm), controllers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return g
}
