package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/clonetree"
)

// runAs is the account that runs the programs of a server instead of root. Most servers
// reach the directory of their data set through a descriptor that they inherit: the
// directories above may be closed to everybody but tare.
type runAs struct {
	account.Account
	dir      *os.File // of the data set
	here     bool     // the programs run in it
	resolves bool     // they resolve paths, and get them as they are
	private  bool     // and reach it in a mount namespace
}

// newRunAs gives the account of a recipe the server's files. It is nil where this process
// itself runs the server's programs: as an ordinary user, or as root where the server
// accepts root and tare can give it no other account; then log has the reason. private
// allows a mount namespace for what is started.
func newRunAs(r db.Recipe, dir string, private bool, log io.Writer) (*runAs, error) {
	if len(r.Users) == 0 || os.Geteuid() != 0 {
		return nil, nil
	}
	p, err := prepareRunAs(r, dir, private)
	if err == nil {
		if err = p.own(); err == nil {
			return p, nil
		}
		p.Close()
	}
	if r.RootToo {
		fmt.Fprintf(log, "tare: the server runs as root: %v\n", err)
		return nil, nil
	}
	return nil, err
}

// errNoAccount means a host or a user namespace in which nobody but root can run it.
var errNoAccount = errors.New("no other account here")

func prepareRunAs(r db.Recipe, dir string, private bool) (*runAs, error) {
	a, ok, err := account.First(r.Users...)
	switch {
	case err != nil:
		return nil, err
	case !ok && r.RootToo:
		return nil, fmt.Errorf("%w: no user is called %s", errNoAccount, strings.Join(r.Users, " or "))
	case !ok:
		return nil, hint.New(fmt.Errorf("the server refuses to run as root, and no user is called %s", strings.Join(r.Users, " or ")),
			"make such a user, or run tare as an ordinary user")
	case r.RootToo && !(a.Mapped() && account.CanGive()):
		return nil, fmt.Errorf("%w: this root may not become user %d", errNoAccount, a.UID)
	}
	if r.RootToo && r.Server.Path != "" && !a.Executes(r.Server.Path) {
		return nil, fmt.Errorf("user %s may not execute %s", a.Name, r.Server.Path)
	}
	p := &runAs{Account: a, here: r.Here, resolves: r.Resolves}
	if err := p.reach(dir, private); err != nil {
		return nil, err
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	p.dir = os.NewFile(uintptr(fd), dir)
	return p, nil
}

// reach finds out how programs that resolve paths get to the directory.
func (p *runAs) reach(dir string, private bool) error {
	if !p.resolves {
		return nil
	}
	blocked, err := p.Blocked(dir)
	if err != nil || blocked == "" {
		return err
	}
	if !private {
		return fmt.Errorf("user %s may not pass %s", p.Name, blocked)
	}
	p.private = true
	return p.CanPrivate(dir)
}

// before makes the mount namespace of what the calling thread starts, where it needs one.
func (p *runAs) before() error {
	if p == nil || !p.private {
		return nil
	}
	return p.Private(p.dir.Name())
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
	if err = clonetree.Give(root, p.UID, p.GID, db.DataDir, db.RunDir); err == nil {
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
	if int(st.Gid) != p.GID {
		if err := root.Lchown(".", -1, p.GID); err != nil {
			return err
		}
	}
	return root.Chmod(".", 0o710)
}

// cannot explains a user namespace in which there is nobody but root.
func (p *runAs) cannot(err error) error {
	err = fmt.Errorf("let user %d have the server's files: %w", p.UID, err)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = hint.New(err, "the server refuses to run as root, and an ordinary user's namespaces hold nobody else: "+
			"run tare as root, or leave out the arms that make namespaces")
	}
	return err
}

// seen are arguments in which the directory is named by the descriptor.
func (p *runAs) seen(args []string, fd int) []string {
	if p.resolves {
		return args
	}
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
func (p *runAs) command(r db.Recipe, path, dir string, args []string) *exec.Cmd {
	if p == nil {
		cmd := exec.Command(path, rootArgs(r, args)...)
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.Credential()}
	return cmd
}

// with makes a client of the server the account's too, with files that it inherits; the
// client of nil is this process's user's.
func (p *runAs) with(cmd *exec.Cmd, files ...*os.File) error {
	if p == nil {
		return nil
	}
	for _, f := range files {
		if err := f.Chown(p.UID, p.GID); err != nil {
			return fmt.Errorf("give %s to user %d: %w", f.Name(), p.UID, err)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.Credential()}
	return nil
}

// rootArgs are the arguments of a program of the server's that this process's user runs.
func rootArgs(r db.Recipe, args []string) []string {
	if os.Geteuid() != 0 {
		return args
	}
	return append(slices.Clone(args), r.AsRoot...)
}

// become makes this process the user's, with the arguments as they are to be
// used then.
func (p *runAs) become(args []string) ([]string, error) {
	fd := -1
	if !p.resolves {
		var err error
		if fd, err = unix.FcntlInt(p.dir.Fd(), unix.F_DUPFD, 10); err != nil { // stays open over execution
			return nil, fmt.Errorf("pass the directory on: %w", err)
		}
	}
	place := "/"
	if p.here {
		place = p.dir.Name()
	}
	if err := os.Chdir(place); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // for the exec
	// The kernel takes the capabilities along.
	if err := p.Become(); err != nil {
		return nil, p.cannot(err)
	}
	return p.seen(args, fd), nil
}

// cleanEnviron leaves out what a server or its client would take as settings.
func cleanEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "PG") || strings.HasPrefix(s, "LC_") || strings.HasPrefix(s, "LANG")
	})
}
