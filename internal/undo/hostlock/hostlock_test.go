package hostlock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestMain makes the test binary a run that holds the lock until its input ends.
func TestMain(m *testing.M) {
	if len(os.Args) != 3 || os.Args[1] != "hold" && os.Args[1] != "beside" {
		os.Exit(m.Run())
	}
	_, err := Take(os.Args[2], os.Args[1] == "beside")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// other is another process that holds the lock.
func other(t *testing.T, directory string) *exec.Cmd { return otherUser(t, 0, "hold", directory) }

func otherUser(t *testing.T, uid uint32, how, directory string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", how, directory)
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	said := make([]byte, 100)
	if n, err := out.Read(said); string(said[:n]) != "held\n" {
		t.Fatalf("%q %v", said[:n], err)
	}
	return cmd
}

func TestTwoRuns(t *testing.T) {
	t.Setenv(DirEnv, t.TempDir())
	first := other(t, "/srv/a result")
	_, err := Take("/elsewhere", false)
	if !errors.Is(err, ErrHeld) || !strings.Contains(hint.Of(err), "--force") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	for _, want := range []string{fmt.Sprintf("process %d,", first.Process.Pid), `"/srv/a result"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	// The lock ends with its process, however that ends.
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	for range 2 { // and with release
		lock, err := Take("/elsewhere", false)
		if err != nil {
			t.Fatal(err)
		}
		lock.Release()
	}
}

// Runs that measure beside each other share the lock. A run that is to measure alone gets an
// error that names one of them. Nobody shares the lock of a run that measures alone.
func TestBeside(t *testing.T) {
	t.Setenv(DirEnv, t.TempDir())
	first := otherUser(t, 0, "beside", "/first")
	lock, err := Take("/second", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take("/third", false); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), `"/second"`) {
		t.Errorf("a run that comes later: %v", err)
	}
	lock.Release()
	if _, err := Take("/third", false); !errors.Is(err, ErrHeld) {
		t.Errorf("beside the first: %v", err)
	}
	first.Process.Kill()
	_ = first.Wait()
	if lock, err = Take("/third", false); err != nil {
		t.Fatal(err)
	}
	if _, err := Take("/fourth", true); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), `"/third"`) {
		t.Errorf("beside one that measures alone: %v", err)
	}
	lock.Release()
	(*Lock)(nil).Release()
}

// Files that others have put in the way neither keep a user from measuring nor lead anywhere
// else.
func TestWhoseLock(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	t.Setenv(DirEnv, dir)
	path := filepath.Join(dir, file)
	for name, put := range map[string]func() error{
		"a link":      func() error { return os.Symlink("/etc/passwd", path) },
		"another's":   func() error { return errors.Join(os.WriteFile(path, nil, 0o644), os.Chown(path, 12345, 12345)) },
		"open to all": func() error { return errors.Join(os.WriteFile(path, nil, 0o644), os.Chmod(path, 0o666)) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if lock, err := Take("/x", false); err == nil || errors.Is(err, ErrHeld) || hint.Of(err) == "" {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				lock.Release()
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// The file's content of a killed run is not taken for that of the present holder.
func TestStaleHolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(DirEnv, dir)
	first := other(t, "/long ago")
	first.Process.Kill()
	_ = first.Wait()
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := Take("/x", false); !errors.Is(err, ErrHeld) || strings.Contains(err.Error(), "long ago") {
		t.Errorf("%v", err)
	}
}

// Root and users see each other, whoever was first.
func TestUsers(t *testing.T) {
	testneed.Root(t)
	const inside, user = "TARETEST_OWN_RUN", 12345
	if os.Getenv(inside) == "" { // in a namespace where only this test uses /run
		cmd := exec.Command("unshare", "--mount", os.Args[0], "-test.run=^TestUsers$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1", DirEnv+"=")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	home := fmt.Sprintf("%s/%d", userDirs, user)
	if err := errors.Join(syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"), os.MkdirAll(home, 0o755), os.Chown(home, user, user)); err != nil {
		t.Fatal(err)
	}
	odd := fmt.Sprintf("%s/%d/tare", userDirs, user+1) // no run has made this directory
	if err := errors.Join(os.MkdirAll(odd, 0o755), os.Symlink("/nowhere", filepath.Join(odd, file))); err != nil {
		t.Fatal(err)
	}
	first := otherUser(t, user, "hold", "/of the user")
	t.Cleanup(func() { os.RemoveAll(fmt.Sprint(noSession, user+2)) })
	second := otherUser(t, user+2, "hold", "/of one without a session")
	lock, err := Take("/of root", false)
	if err != nil {
		t.Fatalf("root, beside users: %v", err)
	}
	defer lock.Release()
	if all := strings.Join(Users(), " "); !strings.Contains(all, "of the user") || !strings.Contains(all, "of one without a session") {
		t.Errorf("root is warned of %q", all)
	}
	for _, p := range []*exec.Cmd{first, second} {
		p.Process.Kill()
		_ = p.Wait()
	}
	if all := Users(); len(all) > 0 {
		t.Errorf("root is warned of %q, which have ended", all)
	}
	// A user cannot take root's lock because he cannot open it.
	try := exec.Command("sh", "-c", "exec 9<"+filepath.Join(rootDir, file))
	try.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if err := try.Run(); err == nil {
		t.Error("a user can open root's lock")
	}
	cmd := exec.Command("/proc/self/exe", "hold", "/of the user")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `"/of root"`) {
		t.Errorf("a user, beside root: %v %s", err, out)
	}
	lock.Release()
	if h, ok := readHolder(filepath.Join(rootDir, file)); ok {
		t.Errorf("released, and still said: %+v", h)
	}
}
