package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/undo/hostlock"
)

// dumped writes a user's dump, which takes some seconds to load, and statements on its table. It returns the flags
// that name them.
func (k *killed) dumped() []string {
	k.t.Helper()
	var dump strings.Builder
	dump.WriteString("CREATE TABLE stock (id integer PRIMARY KEY, name varchar(200));\n")
	for i := range 15_000 { // a statement for each row
		fmt.Fprintf(&dump, "INSERT INTO stock VALUES (%d, '%s');\n", i, strings.Repeat("x", 150))
	}
	files := map[string]string{"dump": dump.String(), "statements": "\\set id random(0, 14999)\nSELECT name FROM stock WHERE id = :id;\n"}
	var flags []string
	for name, text := range files {
		path := filepath.Join(k.state, name+".sql")
		must(k.t, os.WriteFile(path, []byte(text), 0o644))
		flags = append(flags, "--"+name+"="+path)
	}
	return flags
}

// begin makes a result to which a run adds, and returns its directory as the argument of that run.
func (k *killed) begin(args []string) string {
	k.t.Helper()
	dir := k.dir(0)
	whole := k.tool(append(args, "--force", "--budget=10s", "-q", "-o", dir, "--scratch", k.scratch())...)
	if out, err := whole.CombinedOutput(); err != nil {
		k.t.Fatalf("%v\n%s", err, out)
	}
	return "--continue=" + dir
}

// container is a shell script that becomes a program with a root directory, a network and names of its own, which sees
// the processes of the host: tare enters the host from there.
const container = `set -e
mount -t tmpfs -o mode=755 none "$1"
for d in bin sbin lib lib32 lib64 libx32 usr etc dev proc sys tmp var run root; do
	[ -e /$d ] || continue
	if [ -L /$d ]; then cp -P /$d "$1/$d"; else mkdir "$1/$d"; mount --rbind /$d "$1/$d"; fi
done
root=$1
shift
exec chroot "$root" "$@"`

// conmon is a shell script that starts the container of the script $1 and writes its process id to a file: tare finds
// the namespaces of the host at a process of this name above it.
const conmon = `file=$1
shift
unshare --mount --net --uts --ipc sh -c "$@" &
echo $! >"$file"
wait $!
exec sleep 600` // until it is killed itself

// contained is tare in such a container.
func (k *killed) contained(args ...string) *exec.Cmd {
	k.t.Helper()
	root := filepath.Join(k.state, "root")
	self, err := os.Executable()
	must(k.t, err)
	must(k.t, os.MkdirAll(root, 0o755))
	cmd := exec.Command("sh", append([]string{"-c", conmon, "sh", k.containers(), container, "sh", root, self, "__cli"}, args...)...)
	cmd.Args[0] = "conmon"
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+k.state, "XDG_CACHE_HOME="+k.caches(), hostlock.DirEnv+"="+k.state)
	return cmd
}

// containers is the file with the process id of the container.
func (k *killed) containers() string { return filepath.Join(k.state, "container.pid") }

// killContainer kills tare in the container.
func (k *killed) killContainer() {
	var pid int
	if _, err := fmt.Sscan(read(k.containers()), &pid); err == nil && pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// inside are the processes of tare that runs on the host on behalf of one in a container.
func (k *killed) inside() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		role := strings.Contains(read(dir+"/cmdline"), "\x00__entered\x00tare\x00")
		if role && strings.Contains(read(dir+"/environ"), "XDG_STATE_HOME="+k.state+"\x00") {
			var pid int
			if _, err := fmt.Sscan(filepath.Base(dir), &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// endInside kills them, or lets them end by the signal that they get when their parent ends.
func (k *killed) endInside() {
	k.t.Helper()
	hard := k.rng.IntN(2) == 0
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		pids := k.inside()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			if hard {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if time.Now().After(end) {
			k.t.Fatalf("%v go on without their parent", pids)
		}
	}
}
