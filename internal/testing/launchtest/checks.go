package launchtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire"
)

// Arm checks what holds for all arms on this host: what the load inherits, that settings are in force,
// that a client beside the arm reaches a server in it, that a frozen process can be killed, exit
// codes, that an arm can be used again, and that Close leaves nothing.
func Arm(t *testing.T, e environment.Environment, bind bool) {
	port := testneed.Port(t)
	var spec environment.Spec
	a := Open(t, e, func(s *environment.Spec) { s.Port, s.Bind = port, bind; spec = *s })
	place := a.Place()
	p, v := Start(t, a, environment.Process{Args: []string{Look, "serve", place.Listen}})
	given(t, place, v)
	if _, err := a.Settings(); err != nil {
		t.Error(err)
	}
	client, _ := Start(t, a, environment.Process{Args: []string{Look, "dial", place.Dial}, Outside: true})
	<-client.Done()
	if client.Exit().Code != 0 {
		t.Errorf("client: %+v (listen %s, dial %s)", client.Exit(), place.Listen, place.Dial)
	}
	freezeAndKill(t, a, p)
	p, _ = Start(t, a, environment.Process{Args: []string{Look, "exit"}})
	<-p.Done()
	if got := p.Exit(); got != (environment.Exit{Code: 7}) {
		t.Errorf("ended as %+v, want code 7", got)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("kill of what has ended: %v", err)
	}
	nothingLeft(t, a, spec)
}

// given checks what the load inherits.
func given(t *testing.T, place wire.Place, v View) {
	t.Helper()
	want := []string{"HOME=/", "HOSTNAME=tare", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	// The size of the environment moves the stack; its order does not matter, and gVisor changes it.
	if slices.Sort(v.Env); !slices.Equal(v.Env, want) {
		t.Errorf("environment %q, want %q", v.Env, want)
	}
	if v.Status["Name"] != "tare" {
		t.Errorf("the process is called %q, want tare", v.Status["Name"])
	}
	if v.Usr != "" {
		t.Error(v.Usr)
	}
	if v.Dir != place.Volume || !slices.Equal(v.Volume, []string{"table"}) {
		t.Errorf("in %s with %v, want %s with the data set", v.Dir, v.Volume, place.Volume)
	}
	if b, err := os.ReadFile(filepath.Join(place.HostVolume, "table")); err != nil || string(b) != "rows" {
		t.Errorf("the host sees %q, %v", b, err)
	}
	for _, f := range v.Files {
		// The load's Go runtime opens its CPU quota and an epoll. gVisor calls the pipe "host:".
		if n, target, _ := strings.Cut(f, " "); n > "2" && !strings.HasPrefix(target, "pipe:") && !strings.HasPrefix(target, "host:") && !strings.HasPrefix(target, "anon_inode:") && !strings.Contains(target, "/cpu.") {
			t.Errorf("open in the load: %s", f)
		}
	}
}

func freezeAndKill(t *testing.T, a environment.OpenArm, p environment.Running) {
	t.Helper()
	pause := a.Place().Pause
	if pause != nil {
		if err := pause.Freeze(10 * time.Second); err != nil {
			t.Error(err)
		}
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if got := p.Exit(); got != (environment.Exit{Code: -1, Signal: "SIGKILL"}) {
		t.Errorf("ended as %+v, want by SIGKILL", got)
	}
	if pause != nil {
		if err := pause.Thaw(); err != nil {
			t.Error(err)
		}
	}
}

func serve(addr string) int {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		go io.Copy(c, c)
	}
}

func dial(addr string) int {
	var err error
	for range 1000 {
		var c net.Conn
		if c, err = net.DialTimeout("tcp", addr, time.Second); err == nil {
			b := make([]byte, 2)
			_, werr := c.Write([]byte("hi"))
			_, rerr := io.ReadFull(c, b)
			if err = errors.Join(werr, rerr); err == nil && string(b) == "hi" {
				return 0
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// nothingLeft closes an arm with processes in it and checks that nothing is left.
func nothingLeft(t *testing.T, a environment.OpenArm, spec environment.Spec) {
	t.Helper()
	p, _ := Start(t, a, environment.Process{})
	out, _ := Start(t, a, environment.Process{Outside: true})
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []environment.Running{p, out} {
		<-p.Done()
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid())); err == nil {
			t.Errorf("process %d is left", p.Pid())
		}
	}
	if names, err := os.ReadDir(spec.Scratch); err != nil || len(names) > 0 {
		t.Errorf("left in scratch: %v, %v", names, err)
	}
	for _, file := range []string{"/proc/self/mountinfo", "/proc/self/cgroup"} {
		if b, _ := os.ReadFile(file); strings.Contains(string(b), spec.Run) {
			t.Errorf("left in %s:\n%s", file, b)
		}
	}
	if left := groups(spec.Run); len(left) > 0 {
		t.Errorf("groups left: %v", left)
	}
	if _, err := a.Start(t.Context(), environment.Process{Args: []string{Look}}); !errors.Is(err, launch.ErrClosed) {
		t.Errorf("start after close: %v, want ErrClosed", err)
	}
}

// groups are the directories of a run's control groups in all hierarchies.
func groups(run string) []string {
	var found []string
	points, _ := launch.CgroupMounts()
	for _, point := range append(points, "/sys/fs/cgroup", "/sys/fs/cgroup/unified") {
		names, _ := filepath.Glob(filepath.Join(point, "tare-"+run+"*"))
		found = append(found, names...)
	}
	return found
}
