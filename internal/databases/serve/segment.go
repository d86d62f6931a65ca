package serve

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Shared memory, of both interfaces, that a killed server would leave on the host.
//
// A server, PostgreSQL, tells by a System V shared memory segment of 56 bytes whether a
// data directory is in use. It removes the segment at its orderly end; killed,
// it leaves it, and nothing else of a killed arm stays on the host. A segment
// that is marked for removal goes with the last process that has it.

// segmentWord is the kind of the hidden command that marks it, started by the
// process that becomes the server.
const segmentWord = "postgres-segment"

// segmentLimit is how long a server may take to make its segment.
const segmentLimit = time.Minute

// ownSharedMemory gives what this thread starts shared memory that ends with it. What installs
// PostgreSQL runs servers whose memory cannot be set: killed, they leave files in /dev/shm as
// well as segments. Who may make no namespaces goes without.
func ownSharedMemory() {
	if unix.Unshare(unix.CLONE_NEWNS|unix.CLONE_NEWIPC) != nil {
		return
	}
	if unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") != nil { // what the host unmounts is not kept
		return
	}
	_ = unix.Mount("shm", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=1777,size=64m")
}

// markSegment waits until the server, which is process pid, has made its
// segment and named it in its lock file, and marks it. It ends early when gone
// says so.
func markSegment(lock string, pid int, gone func() bool) error {
	for began := time.Now(); time.Since(began) < segmentLimit && !gone(); time.Sleep(5 * time.Millisecond) {
		id, ok := segmentOf(lock, pid)
		if !ok {
			continue
		}
		if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
			return fmt.Errorf("mark the server's shared memory for removal: %w", err)
		}
		return nil
	}
	return nil
}

// mostLock is how large a lock file may be, in bytes; it names a directory.
const mostLock = 1 << 16

// segmentOf is the segment that a running server names in its lock file: the
// first line is its pid, the seventh key and id.
func segmentOf(lock string, pid int) (id int, ok bool) {
	text, err := trust.Read(lock, mostLock)
	if err != nil {
		return 0, false
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 8 || lines[0] != strconv.Itoa(pid) {
		return 0, false
	}
	words := strings.Fields(lines[6])
	if len(words) != 2 {
		return 0, false
	}
	id, err = strconv.Atoi(words[1])
	if err != nil {
		return 0, false
	}
	var about unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &about); err != nil || int(about.Cpid) != pid || about.Segsz > 4096 {
		return 0, false
	}
	return id, true
}

// markSegment marks the segment of a server that was started.
func (p *Process) markSegment(lock string) {
	_ = markSegment(lock, p.cmd.Process.Pid, func() bool { return p.Alive() != nil }) // see segmentMain
}

// markFromChild starts a child that marks the segment of what this process is
// about to become. The server takes it for one of its own that ended well.
func (p *runAs) markFromChild(lock string) error {
	cmd := exec.Command("/proc/self/exe", Command, segmentWord, lock)
	if p != nil && p.ExecutesSelf() { // whoever made a segment may mark it; root of a container may not
		cmd = exec.Command("/proc/self/exe", append([]string{Command, segmentWord}, p.seen([]string{lock}, 3)...)...)
		cmd.ExtraFiles = []*os.File{p.dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.Credential()}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a helper: %w", err)
	}
	return cmd.Process.Release()
}

// segmentMain is that child.
func segmentMain(lock string) int {
	server := os.Getppid()
	// What goes wrong costs 56 bytes, and only if the server is killed.
	_ = markSegment(lock, server, func() bool { return os.Getppid() != server })
	return 0
}

// forgetLimit is how long the processes of a server that was killed may stay.
const forgetLimit = 10 * time.Second

// forget removes the lock file of a server that was killed. The server would
// take one whose parent has not heard of its death yet for alive, and does not
// see what is left of its processes without the segment.
func (s Server) forget(root *os.Root, r db.Recipe) error {
	if r.Segment == "" {
		return nil
	}
	lock := filepath.Join(s.Dir, r.Segment)
	text, err := trust.Read(lock, mostLock)
	if err != nil {
		return nil // there is none
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(first); err != nil || pid < 2 || alive(pid) {
		return nil // the server knows what to say
	}
	for end := time.Now().Add(forgetLimit); worksIn(filepath.Dir(lock)); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("a server that was killed still has processes in %s", filepath.Dir(lock))
		}
	}
	if err := root.Remove(r.Segment); err != nil {
		return fmt.Errorf("remove the lock of a server that was killed: %w", err)
	}
	return nil
}

// alive says whether a process runs or may; one that has ended and that its
// parent did not hear of does not.
func alive(pid int) bool {
	p, err := proc.FS("/").Process(pid)
	return err == nil && !p.Over()
}

// worksIn says whether any process has a directory as its working directory.
func worksIn(dir string) bool {
	st, err := os.Stat(dir)
	if err != nil {
		return false
	}
	list, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range list {
		if its, err := os.Stat(l); err == nil && os.SameFile(st, its) {
			return true
		}
	}
	return false
}
