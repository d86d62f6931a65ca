package wall

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// behind makes the test binary a process that raises a wall around the directory, in one of the ways, and becomes a
// shell with the rest of the arguments.
const behind = "behind-the-wall"

func TestMain(m *testing.M) {
	if len(os.Args) < 5 || os.Args[1] != behind {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	if err := raise(os.Args[2], Wall{Dir: os.Args[3], Loopback: true}); err != nil {
		fmt.Println("no wall:", err)
		os.Exit(3)
	}
	fmt.Println(syscall.Exec("/bin/sh", append([]string{"sh", "-c"}, os.Args[4:]...), os.Environ()))
	os.Exit(4)
}

// raise raises the wall in one of the ways, and then gives up root.
func raise(way string, w Wall) error {
	var err error
	switch way {
	case "all":
		err = w.Raise()
	case "mounts": // a kernel without Landlock
		err = w.mounts()
	case "each": // one without mount_setattr(2)
		err = errors.Join(unix.Unshare(unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""), w.bind(), eachReadOnly(), writable(w.Dir))
		if open, e := w.open(); e != nil || len(open) > 0 {
			err = errors.Join(err, e, fmt.Errorf("still open: %q", open))
		}
	case "landlock":
		err = errors.Join(namespace.DropBounding(0), namespace.SetCapabilities(1<<unix.CAP_SETUID|1<<unix.CAP_SETGID), w.Raise())
	case "root": // stays root, without capabilities
		return errors.Join(w.Raise(), namespace.DropBounding(0), namespace.SetCapabilities(0))
	}
	if os.Geteuid() != 0 || err != nil {
		return err
	}
	return namespace.Become(account.Nobody.UID, account.Nobody.GID)
}

// attempts are what a process behind the wall tries: $1 is its directory, $2 another one that everybody may write,
// with a file of its own, $3 another process of the same user.
const attempts = `
cd "$1" || exit
try() { "$@" >/dev/null 2>&1 && echo "could: $*"; }
to() { (echo out >"$1") 2>/dev/null && echo "could write: $1"; }
touch "$1/here" || echo "cannot write in its directory"
mkdir "$1/a" "$1/b" && echo x >"$1/a/f" && mv "$1/a/f" "$1/b/f" || echo "cannot move"
for dir in "$2" /tmp /var/tmp /dev/shm /run /var/lib /etc / /proc/self/cwd/.. "$1/.." "$1/../.." "/proc/self/root$2" "/proc/$3/root$2" "/proc/$3/cwd" "/proc/1/root$2"; do
	to "$dir/tare-wall-out"
done
for fd in /proc/self/fd/*; do to "$fd/../../../../../..$2/tare-wall-out"; done
ln -s "$2" "$1/link"; to "$1/link/tare-wall-out"
to "$2/mine"
try rm "$2/mine"; try mv "$2/mine" "$1/moved"; try mv "$1/here" "$2/moved"; try ln "$2/mine" "$1/hard"; try ln "$1/here" "$2/hard"
try mkdir "$2/d"; try mkfifo "$2/p"; try ln -s x "$2/s"; try truncate -s 0 "$2/mine"
[ "$4" ] && { try chmod 777 "$2/mine"; try touch -d 2001-01-01 "$2/mine"; }
try mount -o remount,rw /; try mount -t tmpfs x "$1/a"; try unshare -m true
[ "$5" ] && { try kill -0 "$3"; try kill -TERM "$3"; }
echo over
`

// Behind the wall a process writes in its directory and nowhere else, by whatever path.
func TestWall(t *testing.T) {
	testneed.Root(t)
	for _, c := range []struct {
		way              string
		metadata, others bool // nor does it change owner, mode and times, nor reach other processes
	}{{"all", true, true}, {"mounts", true, false}, {"each", true, false}, {"landlock", false, true}, {"root", true, true}} {
		t.Run(c.way, func(t *testing.T) {
			if _, err := landlockVersion(); c.others && err != nil {
				testneed.Feature(t, "landlock", err)
			}
			uid := account.Nobody.UID
			if c.way == "root" {
				uid = 0
			}
			script := attempts
			if !c.others {
				script = strings.ReplaceAll(script, `"/proc/$3/root$2" "/proc/$3/cwd" "/proc/1/root$2"`, "")
			}
			for _, place := range []string{"/tmp", "/var/lib", "/dev/shm"} {
				other := open(t, place, uid)
				if out := sh(t, c.way, open(t, "/var/tmp", uid), script, other, neighbour(t, uid, other), words[c.metadata], words[c.others]); out != "over\n" {
					t.Error(out)
				}
				if entries, err := os.ReadDir(other); err != nil || len(entries) != 1 {
					t.Errorf("%v, %v", entries, err)
				}
			}
		})
	}
}

// Without a wall most of the attempts succeed.
func TestAttempts(t *testing.T) {
	testneed.Root(t)
	other := open(t, "/var/lib", account.Nobody.UID)
	t.Cleanup(func() {
		for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} { // those that everybody may write
			_ = os.Remove(filepath.Join(dir, "tare-wall-out"))
		}
	})
	out := sh(t, "none", open(t, "/var/tmp", account.Nobody.UID), attempts, other, neighbour(t, account.Nobody.UID, other), "yes", "yes")
	if strings.Count(out, "could") < 15 || !strings.Contains(out, "/root/var/lib") || !strings.Contains(out, "kill -0") || !strings.Contains(out, "mkfifo") {
		t.Error(out)
	}
}

var words = map[bool]string{true: "yes"}

// open is a directory that everybody may write, with a file "mine" of a user.
func open(t *testing.T, below string, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp(below, "tare-wall")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(filepath.Join(dir, "mine"), []byte("text"), 0o600), os.Chown(filepath.Join(dir, "mine"), uid, uid)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// neighbour is the pid of another process of the user, which works in a directory.
func neighbour(t *testing.T, uid int, dir string) string {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return fmt.Sprint(cmd.Process.Pid)
}

// sh is what a script prints behind a wall around a directory.
func sh(t *testing.T, way, dir, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{behind, way, dir, script, "sh", dir}, args...)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = child.Run(cmd) // the output says why
	return out.String()
}

// Behind a wall with loopback alone, there is no other interface; without one tare cannot be reached from there.
func TestLoopback(t *testing.T) {
	testneed.Root(t)
	out := sh(t, "all", open(t, "/var/tmp", 0), `cat /proc/self/net/dev | tail -n +3 | cut -d: -f1; cat /proc/self/net/fib_trie | grep -c 127.0.0.1`)
	if lines := strings.Fields(out); len(lines) != 2 || lines[0] != "lo" || lines[1] == "0" {
		t.Error(out)
	}
}

// An ordinary user's wall is Landlock.
func TestOrdinary(t *testing.T) {
	uid, gid := testneed.Ordinary(t)
	if _, err := landlockVersion(); err != nil {
		testneed.Feature(t, "landlock", err)
	}
	dir, other := open(t, "/var/tmp", int(uid)), open(t, "/tmp", int(uid))
	cmd := exec.Command("/proc/self/exe", behind, "all", dir, attempts, "sh", dir, other, neighbour(t, int(uid), other), "", "yes")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	if out, err := cmd.CombinedOutput(); string(out) != "over\n" || err != nil {
		t.Errorf("%s, %v", out, err)
	}
}

// Where the kernel gives none, that is an error with a remedy, but for a container that ends with its files.
func TestNone(t *testing.T) {
	if err := none(errNoMounts); !errors.Is(err, errNone) || hint.Of(err) == "" {
		t.Error(err)
	}
	if err := Possible(); err != nil && !errors.Is(err, errNone) {
		t.Error(err)
	}
}
