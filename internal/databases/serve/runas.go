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

// runAs is the account that runs the programs of a server instead of root. The programs reach the
// directory of the data set through an inherited descriptor, because only tare may search the
// directories above it.
type runAs struct {
	account.Account
	dir       *os.File // the data set
	runInDir  bool     // as in db.Recipe
	realPaths bool     // as in db.Recipe
	private   bool     // the programs reach dir in their own mount namespace
}

// newRunAs chooses the account of a recipe and gives it the server's files. It returns nil if the
// programs run with this process's account: as an ordinary user, or as root if the server accepts
// root and tare can give it no other account; log has the reason then. private allows a mount
// namespace for the programs.
func newRunAs(r db.Recipe, dir string, private bool, log io.Writer) (*runAs, error) {
	if len(r.Users) == 0 || os.Geteuid() != 0 {
		return nil, nil
	}
	p, err := prepareRunAs(r, dir, private)
	if err == nil {
		if err = p.giveFiles(); err == nil {
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

// errNoAccount means that this host or user namespace has no other account for the server.
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
	p := &runAs{Account: a, runInDir: r.RunInDir, realPaths: r.RealPaths}
	if err := p.reach(dir, private); err != nil {
		return nil, err
	}
	if p.dir, err = openDir(dir); err != nil {
		return nil, err
	}
	return p, nil
}

func openDir(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// reopen opens the directory in the namespace of the calling thread.
func (p *runAs) reopen() error {
	dir, err := openDir(p.dir.Name())
	if err != nil {
		return err
	}
	err = p.dir.Close()
	p.dir = dir
	return err
}

// inherit gives a command the directory as descriptor 3, and as its working directory; p may be nil.
func (p *runAs) inherit(cmd *exec.Cmd) {
	if p == nil {
		return
	}
	if cmd.Dir = "/"; p.runInDir {
		// The account may not reach it by its path.
		cmd.Dir = "/proc/self/fd/" + strconv.Itoa(int(p.dir.Fd()))
	}
	cmd.ExtraFiles = []*os.File{p.dir}
}

// reach checks that programs that need real paths can get to the directory, and sets private if they
// need a mount namespace for that.
func (p *runAs) reach(dir string, private bool) error {
	if !p.realPaths {
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

// beforeFork makes a mount namespace for the children of the calling thread, if they need one; p may be
// nil.
func (p *runAs) beforeFork() error {
	if p == nil || !p.private {
		return nil
	}
	return p.Private(p.dir.Name())
}

// Close closes the descriptor of the directory; p may be nil.
func (p *runAs) Close() error {
	if p == nil {
		return nil
	}
	return p.dir.Close()
}

// giveFiles gives the server's data and sockets to the account. tare still owns the directory itself
// and the other files in it, such as the password: all processes of that account can search the
// directory and cannot create files in it.
func (p *runAs) giveFiles() error {
	root, err := os.OpenRoot(p.dir.Name())
	if err != nil {
		return p.giveError(err)
	}
	defer root.Close()
	if err = clonetree.Give(root, p.UID, p.GID, db.DataDir, db.RunDir); err == nil {
		err = p.allowSearch(root)
	}
	if err != nil {
		return p.giveError(err)
	}
	return nil
}

// allowSearch lets the account's group search the directory of the data set.
func (p *runAs) allowSearch(root *os.Root) error {
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

// giveError is the error of giving files to the account. It has a hint if the cause is a user namespace
// that has no user but root.
func (p *runAs) giveError(err error) error {
	err = fmt.Errorf("let user %d have the server's files: %w", p.UID, err)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = hint.New(err, "the server refuses to run as root, and an ordinary user's namespaces hold nobody else: "+
			"run tare as root, or leave out the arms that make namespaces")
	}
	return err
}

// throughDescriptor replaces the directory of the data set in arguments by the path of descriptor fd.
func (p *runAs) throughDescriptor(args []string, fd int) []string {
	if p.realPaths {
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

// command makes the command of a program of the server. It runs with the account; if p is nil, with the
// account of this process.
func (p *runAs) command(r db.Recipe, path, dir string, args []string) *exec.Cmd {
	if p == nil {
		cmd := exec.Command(path, rootArgs(r, args)...)
		cmd.Dir = dir
		return cmd
	}
	cmd := exec.Command(path, p.throughDescriptor(args, 3)...)
	p.inherit(cmd)
	cmd.Env = cleanEnviron()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.Credential()}
	return cmd
}

// applyTo makes a client of the server run with the account, and gives the account the files that the
// client inherits. If p is nil, it does nothing.
func (p *runAs) applyTo(cmd *exec.Cmd, files ...*os.File) error {
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

// rootArgs are the arguments of a program that runs with this process's account.
func rootArgs(r db.Recipe, args []string) []string {
	if os.Geteuid() != 0 {
		return args
	}
	return append(slices.Clone(args), r.AsRoot...)
}

// become changes this process to the account, and returns the arguments with which it must execute the
// server.
func (p *runAs) become(args []string) ([]string, error) {
	fd := -1
	if !p.realPaths {
		var err error
		if fd, err = unix.FcntlInt(p.dir.Fd(), unix.F_DUPFD, 10); err != nil { // without FD_CLOEXEC
			return nil, fmt.Errorf("pass the directory on: %w", err)
		}
	}
	place := "/"
	if p.runInDir {
		place = p.dir.Name()
	}
	if err := os.Chdir(place); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // this thread executes the server; execve drops its capabilities
	if err := p.Become(); err != nil {
		return nil, p.giveError(err)
	}
	return p.throughDescriptor(args, fd), nil
}

// cleanEnviron is the environment without the variables that servers and clients read as settings.
func cleanEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "PG") || strings.HasPrefix(s, "LC_") || strings.HasPrefix(s, "LANG")
	})
}
