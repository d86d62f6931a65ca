package serve

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/db"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/clonetree"
)

// runAs is who runs the programs of a server that refuses root. Such a
// server reaches the directory of its data set through a descriptor that it
// inherits: the directories above are closed to everybody but tare.
type runAs struct {
	uid, gid int
	dir      *os.File // of the data set
	here     bool     // the programs run in it
}

// newRunAs is nil where this process itself runs the server's programs.
func newRunAs(r db.Recipe, dir string) (*runAs, error) {
	if len(r.Users) == 0 || os.Geteuid() != 0 {
		return nil, nil
	}
	p := &runAs{uid: -1, here: r.Here}
	for _, name := range r.Users {
		if u, err := user.Lookup(name); err == nil {
			if p.uid, err = strconv.Atoi(u.Uid); err != nil {
				return nil, fmt.Errorf("user %s: %w", name, err)
			}
			if p.gid, err = strconv.Atoi(u.Gid); err != nil {
				return nil, fmt.Errorf("user %s: %w", name, err)
			}
			break
		}
	}
	if r.RootToo && (p.uid <= 0 || !mapped(p.uid)) {
		return nil, nil
	}
	if p.uid <= 0 {
		return nil, hint.New(fmt.Errorf("the server refuses to run as root, and no user is called %s", strings.Join(r.Users, " or ")),
			"make such a user, or run tare as an ordinary user")
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	p.dir = os.NewFile(uintptr(fd), dir)
	return p, nil
}

// mapped says whether a user is somebody in this process's user namespace.
func mapped(uid int) bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		var first, outside, count int // user_namespaces(7)
		if n, _ := fmt.Sscan(line, &first, &outside, &count); n == 3 && first <= uid && uid-first < count {
			return true
		}
	}
	return false
}

// Close closes the descriptor; nil may be closed.
func (p *runAs) Close() error {
	if p == nil {
		return nil
	}
	return p.dir.Close()
}

// own gives the user what is the server's: its data and its sockets. The directory
// itself stays tare's, with the password and what else stands beside them: the user, and
// whoever else runs as that user on this host, can go through it and put nothing there.
func (p *runAs) own() error {
	root, err := os.OpenRoot(p.dir.Name())
	if err != nil {
		return p.cannot(err)
	}
	defer root.Close()
	if err = clonetree.Give(root, p.uid, p.gid, db.DataDir, db.RunDir); err == nil {
		err = p.letThrough(root)
	}
	if err != nil {
		return p.cannot(err)
	}
	return nil
}

// letThrough lets the user's group through the directory.
func (p *runAs) letThrough(root *os.Root) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(p.dir.Fd()), &st); err != nil {
		return err
	}
	if int(st.Gid) != p.gid {
		if err := root.Lchown(".", -1, p.gid); err != nil {
			return err
		}
	}
	return root.Chmod(".", 0o710)
}

// cannot explains a user namespace in which there is nobody but root.
func (p *runAs) cannot(err error) error {
	err = fmt.Errorf("let user %d have the server's files: %w", p.uid, err)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = hint.New(err, "the server refuses to run as root, and an ordinary user's namespaces hold nobody else: "+
			"run tare as root, or leave out the arms that make namespaces")
	}
	return err
}

// seen are arguments in which the directory is named by the descriptor.
func (p *runAs) seen(args []string, fd int) []string {
	top, link := p.dir.Name(), "/proc/self/fd/"+strconv.Itoa(fd)
	out := slices.Clone(args)
	for i, a := range out {
		name, value, found := strings.Cut(a, "=")
		if !found {
			name, value = "", a
		} else {
			name += "="
		}
		if rest, ok := strings.CutPrefix(value, top); ok && (rest == "" || rest[0] == '/') {
			out[i] = name + link + rest
		}
	}
	return out
}

// command is a program of the server as a child of this process; nil makes it
// an ordinary one.
func (p *runAs) command(path, dir string, args []string) *exec.Cmd {
	if p == nil {
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		return cmd
	}
	cmd := exec.Command(path, p.seen(args, 3)...)
	if cmd.Dir = "/"; p.here {
		// By its path it may be out of this user's reach.
		cmd.Dir = "/proc/self/fd/" + strconv.Itoa(int(p.dir.Fd()))
	}
	cmd.ExtraFiles = []*os.File{p.dir}
	cmd.Env = cleanEnviron()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.gid)}}
	return cmd
}

// become makes this process the user's, with the arguments as they are to be
// used then.
func (p *runAs) become(args []string) ([]string, error) {
	fd, err := unix.FcntlInt(p.dir.Fd(), unix.F_DUPFD, 10) // stays open over execution
	if err != nil {
		return nil, fmt.Errorf("pass the directory on: %w", err)
	}
	place := "/"
	if p.here {
		place = p.dir.Name()
	}
	if err := os.Chdir(place); err != nil {
		return nil, err
	}
	// The kernel takes the capabilities along.
	for _, step := range []func() error{
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setgid(p.gid) },
		func() error { return syscall.Setuid(p.uid) },
	} {
		if err := step(); err != nil {
			return nil, p.cannot(err)
		}
	}
	return p.seen(args, fd), nil
}

// cleanEnviron leaves out what a server or its client would take as settings.
func cleanEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "PG") || strings.HasPrefix(s, "LC_") || strings.HasPrefix(s, "LANG")
	})
}
