package account

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// become makes the test binary a process that becomes nobody and prints its rights.
const become = "TARETEST_BECOME"

func TestMain(m *testing.M) {
	if os.Getenv(become) == "" {
		os.Exit(m.Run())
	}
	if err := Nobody.Become(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	b, err := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		for _, name := range []string{"Uid:", "Gid:", "Groups:", "CapEff:", "CapPrm:"} {
			if strings.HasPrefix(line, name) {
				fmt.Println(strings.Join(strings.Fields(line), " "))
			}
		}
	}
	fmt.Println("ends by", deathSignal(), err)
	os.Exit(0)
}

func TestBecome(t *testing.T) {
	testneed.Root(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), become+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	out := &strings.Builder{}
	cmd.Stdout = out
	if err := child.Run(cmd); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := strings.Join([]string{
		"Uid: 65534 65534 65534 65534", "Gid: 65534 65534 65534 65534", "Groups:", "CapPrm: 0000000000000000", "CapEff: 0000000000000000", "ends by 9 <nil>", "",
	}, "\n")
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// tree is a directory open to all users, with a closed directory and links in it.
func tree(t *testing.T) string {
	t.Helper()
	top, err := os.MkdirTemp("/tmp", "tare-account")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(top) })
	in := func(name string) string { return filepath.Join(top, name) }
	must(t, os.Chmod(top, 0o755), os.MkdirAll(in("open/data"), 0o711), os.MkdirAll(in("closed/data"), 0o755), os.Chmod(in("closed"), 0o700),
		os.Symlink("closed", in("link")), os.Symlink("../open", in("closed/out")),
		os.WriteFile(in("open/file"), []byte("text"), 0o644), os.WriteFile(in("open/secret"), nil, 0o600), os.WriteFile(in("closed/file"), nil, 0o644))
	return top
}

func TestBlocked(t *testing.T) {
	testneed.Root(t)
	top := tree(t)
	for name, want := range map[string]string{"open/data": "", "closed": "", "closed/data": "closed", "link/data": "link", "closed/out/data": "closed"} {
		got, err := Nobody.Blocked(filepath.Join(top, name))
		if want != "" {
			want = filepath.Join(top, want)
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]bool{"open/file": true, "open/secret": false, "closed/file": false, "link/file": false, "none": false} {
		if got := Nobody.Reads(filepath.Join(top, name)); got != want {
			t.Errorf("reads %s: %v", name, got)
		}
	}
	mine := Account{UID: 65534, GID: 12345}
	must(t, os.Chown(filepath.Join(top, "closed"), 0, 12345), os.Chmod(filepath.Join(top, "closed"), 0o710))
	if got, err := mine.Blocked(filepath.Join(top, "closed/data")); err != nil || got != "" {
		t.Errorf("its group: %q, %v", got, err)
	}
}

// In the private namespace the account reaches the directory by its path and by that of a link,
// and nothing else that was closed. The host sees no change.
func TestPrivate(t *testing.T) {
	testneed.Root(t)
	top := tree(t)
	for _, name := range []string{"closed/data", "link/data", "closed/out/data"} {
		dir := filepath.Join(top, name)
		must(t, os.Chown(dir, Nobody.UID, Nobody.GID))
		cmd := exec.Command("/bin/sh", "-c", `cd "$1" && pwd -P && echo text >here && ! cat "$2"`, "sh", dir, filepath.Join(top, "closed/file"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: Nobody.Credential()}
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		ended := make(chan error, 1)
		must(t, child.StartAfter(cmd, func() error { return Nobody.Private(dir) }, func(err error) { ended <- err }))
		if err := <-ended; err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "here")); err != nil || string(b) != "text\n" {
			t.Errorf("%s: the host reads %q, %v", name, b, err)
		}
		must(t, os.Remove(filepath.Join(dir, "here")))
	}
	if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(b), top) {
		t.Errorf("the host has mounts in %s: %v", top, err)
	}
}

// A thread's namespaces never show as those of the process.
func TestThreadIsNotMain(t *testing.T) {
	testneed.Root(t)
	top := tree(t)
	before, err := os.Readlink("/proc/self/ns/mnt")
	must(t, err)
	for range 200 {
		must(t, Nobody.CanPrivate(filepath.Join(top, "closed/data")))
		if now, err := os.Readlink("/proc/self/ns/mnt"); err != nil || now != before {
			t.Fatalf("the namespace of the main thread became %s, %v", now, err)
		}
	}
}

func TestMapped(t *testing.T) {
	if !(Account{UID: os.Geteuid()}).Mapped() || (Account{UID: -1}).Mapped() {
		t.Error("this process's own user is nobody, or -1 is somebody")
	}
}
