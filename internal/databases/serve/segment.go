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

// Shared memory that a killed server would leave on the host.
//
// PostgreSQL holds a System V shared memory segment of 56 bytes to tell whether a data directory is in
// use. It removes the segment when it shuts down; when it is killed, the segment stays. tare marks the
// segment for removal (IPC_RMID), so that it ends with the last process attached to it.

// segmentWord is the kind of the hidden command that marks the segment of its parent.
const segmentWord = "postgres-segment"

// segmentLimit is how long a server may take to make its segment.
const segmentLimit = time.Minute

// ownSharedMemory gives the children of this thread IPC and mount namespaces with their own /dev/shm.
// The installation of PostgreSQL runs servers whose kind of shared memory cannot be chosen: when they
// are killed, they leave segments and files in /dev/shm. Without the right to make namespaces it does
// nothing.
func ownSharedMemory() {
	if unix.Unshare(unix.CLONE_NEWNS|unix.CLONE_NEWIPC) != nil {
		return
	}
	if unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") != nil { // unmounts on the host propagate
		return
	}
	_ = unix.Mount("shm", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=1777,size=64m")
}

// markSegment waits until the server, process pid, has named its segment in its lock file, and marks
// the segment for removal. It returns early when gone is true.
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

// mostLock bounds the size of a lock file in bytes; the file has a path in it.
const mostLock = 1 << 16

// segmentOf is the id of the segment in a running server's lock file. The first line is the pid, the
// seventh key and id.
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

// markSegment marks the segment of a server that this process started.
func (p *Process) markSegment(lock string) {
	_ = markSegment(lock, p.cmd.Process.Pid, func() bool { return p.Alive() != nil }) // an error costs 56 bytes, see segmentMain
}

// markFromChild starts a child that marks the segment of the server that this process will execute.
// The server reaps the child like one of its own.
func (p *runAs) markFromChild(lock string) error {
	args := []string{segmentWord, strconv.Itoa(os.Getpid()) + "=" + lock}
	cmd := exec.Command("/proc/self/exe", append([]string{Command}, args...)...)
	if p != nil && p.ExecutesSelf() { // only the creator of a segment may mark it; root of a container may not
		cmd = exec.Command("/proc/self/exe", append([]string{Command}, p.throughDescriptor(args, 3)...)...)
		cmd.ExtraFiles = []*os.File{p.dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.Credential()}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a helper: %w", err)
	}
	return cmd.Process.Release()
}

// segmentMain is the hidden command segmentWord. Its argument is PID=LOCK, with the pid of the process that started this
// one: it becomes the server, and another parent shows that it has ended. The exit code is 0 whatever happens: PostgreSQL
// ends when a child of its process fails.
func segmentMain(argument string) int {
	server, lock, _ := strings.Cut(argument, "=")
	pid, err := strconv.Atoi(server)
	if err != nil {
		return 0
	}
	// After an error a killed server leaves 56 bytes.
	_ = markSegment(lock, pid, func() bool { return os.Getppid() != pid })
	return 0
}

// staleLimit is how long the child processes of a killed server may take to end.
const staleLimit = 10 * time.Second

// removeStaleLock removes the lock file of a killed server. A new server would take a process for
// alive that its parent has not reaped, and without the segment it does not notice child processes of
// the old one.
func (s Server) removeStaleLock(root *os.Root, r db.Recipe) error {
	if r.Segment == "" {
		return nil
	}
	lock := filepath.Join(s.Dir, r.Segment)
	text, err := trust.Read(lock, mostLock)
	if err != nil {
		return nil // no lock file
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(first); err != nil || pid < 2 || alive(pid) {
		return nil // the server reports it
	}
	for end := time.Now().Add(staleLimit); worksIn(filepath.Dir(lock)); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("a server that was killed still has processes in %s", filepath.Dir(lock))
		}
	}
	if err := root.Remove(r.Segment); err != nil {
		return fmt.Errorf("remove the lock of a server that was killed: %w", err)
	}
	return nil
}

// alive is true if a process exists and is no zombie.
func alive(pid int) bool {
	p, err := proc.FS("/").Process(pid)
	return err == nil && !p.Over()
}

// worksIn is true if a directory is the working directory of any process.
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
