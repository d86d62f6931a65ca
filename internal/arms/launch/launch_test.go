package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/wire/hidden"
)

const hybridText = `12:cpu,cpuacct:/tare-r1/arm
11:freezer:/
1:name=systemd:/tare-r1/arm
0::/user.slice/tare-r1/arm
`

func TestMembership(t *testing.T) {
	paths, err := proc.ParseCgroups([]byte(hybridText))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    Membership
		says string
	}{
		{Membership{}, ""},
		{Membership{Path: "tare-r1/arm", Controllers: []string{"cpu"}, V2: true}, ""},
		{Membership{Path: "tare-r1/arm", Controllers: []string{"freezer"}}, "freezer"},
		{Membership{Path: "tare-r1/other", Controllers: []string{"cpu"}}, "cpu"},
		{Membership{Path: "tare-r2/arm", V2: true}, "version 2"},
		{Membership{Path: "r1/arm", V2: true}, "version 2"}, // the end of a name is not the name
	} {
		err := c.m.compare(paths)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v, want an error that says %q", c.m, err, c.says)
		}
	}
	if err := (Membership{}).check("no-process"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: want that the file is missing", err)
	}
}

// TestFailureKeepsItsNumber checks that errors.Is finds the errno of a child's error.
func TestFailureKeepsItsNumber(t *testing.T) {
	var socket bytes.Buffer
	l := newLine(&socket)
	cause := fmt.Errorf("mount /x: %w", unix.EPERM)
	if err := l.out.Encode(message{Failure: agent.FailureOf(cause)}); err != nil {
		t.Fatal(err)
	}
	_, err := l.receive()
	if !errors.Is(err, unix.EPERM) || !errors.Is(err, os.ErrPermission) || err.Error() != cause.Error() {
		t.Errorf("%v (%T): want %v", err, err, cause)
	}
	if _, err := l.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("%v: want io.EOF at the end", err)
	}
	l = newLine(&socket)
	if err := l.out.Encode(message{Failure: agent.FailureOf(errors.New("plain"))}); err != nil {
		t.Fatal(err)
	}
	var errno syscall.Errno
	if _, err := l.receive(); errors.As(err, &errno) || err.Error() != "plain" {
		t.Errorf("%v: want plain", err)
	}
}

func TestRequestSurvivesTheSocket(t *testing.T) {
	security, err := DockerSecurity()
	if err != nil {
		t.Fatal(err)
	}
	dirs := RootDirs{Upper: "/u", Work: "/w", Point: "/p", HostVolume: "/d", bind: true}
	want := Request{
		Files: 2, Tasks: []string{"/t"}, Member: Membership{Path: "p", V2: true}, MountNS: true,
		Root: dirs.Request(DockerMounts(), false), Security: security, Args: []string{"", "a b"}, Env: environ(),
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Request
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestUserMountsAskForNothingPrivileged(t *testing.T) {
	all := DockerMounts()
	for _, m := range userMounts(all) {
		if m.Type == "sysfs" || slices.ContainsFunc(m.Options, func(o string) bool { return strings.HasPrefix(o, "gid=") }) {
			t.Errorf("%+v", m)
		}
	}
	if d := cmp.Diff(DockerMounts(), all); d != "" {
		t.Error("the mounts of others changed:", d)
	}
}

func TestThread(t *testing.T) {
	th := NewThread()
	var first, second int
	for _, tid := range []*int{&first, &second} {
		done := make(chan error)
		go func() { done <- th.Do(func() { *tid = unix.Gettid() }) }()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if first != second || first == 0 {
		t.Errorf("threads %d and %d, want one", first, second)
	}
	if err := th.start(func() error { return io.ErrUnexpectedEOF }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	th.Close()
	th.Close()
	if err := th.Do(func() { t.Error("ran after Close") }); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
}

// A hidden command that a person starts fails and does nothing.
func TestRolesAreNotForPeople(t *testing.T) {
	for _, args := range [][]string{
		{InitCommand}, {InitCommand, "x"}, {InitCommand, "-1"}, {InitCommand, "2"}, {InitCommand, "3", "4"},
		{attendCommand}, {attendedCommand},
	} {
		if code, ok := hidden.Run(Roles(), args); code == 0 || !ok {
			t.Errorf("%q: code %d, a role: %v", args, code, ok)
		}
	}
}
