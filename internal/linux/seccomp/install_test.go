package seccomp

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "under-filter" {
		os.Exit(underFilter(os.Args[2]))
	}
	os.Exit(m.Run())
}

// underFilter installs Docker's default filter and prints what system calls answer.
func underFilter(dir string) int {
	runtime.LockOSThread() // the filter is for this thread
	p, err := Docker([]string{"CAP_CHOWN", "CAP_SYS_CHROOT"})
	if err == nil {
		var f Filter
		if f, err = New(p); err == nil {
			if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err == nil {
				err = f.Install()
			}
		}
	}
	if err != nil {
		fmt.Println("install", err)
		return 1
	}
	call := func(name string, nr uintptr, args ...uintptr) {
		args = append(args, 0, 0, 0, 0, 0, 0)
		_, _, errno := unix.RawSyscall6(nr, args[0], args[1], args[2], args[3], args[4], args[5])
		fmt.Println(name, int(errno))
	}
	call("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	call("mount", unix.SYS_MOUNT)
	call("umount2", unix.SYS_UMOUNT2)
	call("setns", unix.SYS_SETNS)
	call("bpf", unix.SYS_BPF)
	call("perf_event_open", unix.SYS_PERF_EVENT_OPEN)
	call("keyctl", unix.SYS_KEYCTL)
	call("io_uring_setup", unix.SYS_IO_URING_SETUP)
	call("clone3", unix.SYS_CLONE3)
	call("beyond", 1000)
	call("personality-linux32", unix.SYS_PERSONALITY, 0xffffffff)
	call("personality-read-implies-exec", unix.SYS_PERSONALITY, 0x0400000)
	call("socket-vsock", unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM)
	call("socket-inet", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM)
	call("clone-newuser", unix.SYS_CLONE, unix.CLONE_NEWUSER)
	call("getpid", unix.SYS_GETPID)

	fmt.Println("file", ordinary(filepath.Join(dir, "file")))
	status, _ := os.ReadFile("/proc/thread-self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "Seccomp") || strings.HasPrefix(line, "NoNewPrivs") {
			fmt.Println(strings.Join(strings.Fields(line), " "))
		}
	}
	return 0
}

// ordinary writes, syncs, reads and removes a file, and starts a program.
func ordinary(path string) error {
	if err := os.WriteFile(path, []byte("hello"), 0o644); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return err
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "hello" {
		return fmt.Errorf("read back %q, %v", b, err)
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return exec.Command("/bin/true").Run()
}

func TestUnderTheFilter(t *testing.T) {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	testneed.Feature(t, "seccomp", err)
	out, err := exec.Command("/proc/self/exe", "under-filter", t.TempDir()).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := map[string]string{}
	for sc := bufio.NewScanner(strings.NewReader(string(out))); sc.Scan(); {
		name, answer, _ := strings.Cut(sc.Text(), " ")
		got[name] = answer
	}
	eperm, enosys := fmt.Sprint(int(unix.EPERM)), fmt.Sprint(int(unix.ENOSYS))
	for name, want := range map[string]string{
		"unshare": eperm, "mount": eperm, "umount2": eperm, "setns": eperm, "bpf": eperm,
		"perf_event_open": eperm, "keyctl": eperm, "io_uring_setup": eperm,
		"clone3": enosys, "beyond": enosys,
		"personality-linux32": "0", "personality-read-implies-exec": eperm,
		"socket-vsock": eperm, "socket-inet": "0", "clone-newuser": eperm, "getpid": "0",
		"file": "<nil>", "Seccomp:": "2", "Seccomp_filters:": "1",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
