package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/account"
)

// Found is a service that is installed on this host.
type Found struct {
	Service  db.Service
	Version  db.Version
	Programs map[string]string // absolute paths by role
	Banner   string            // the text from which Version was read
}

// Name is the name of the service.
func (f Found) Name() string { return f.Service.Describe().Name }

// autoProtocol is the protocol of the services for which Auto stands.
const autoProtocol = "mysql"

// Find finds an installed service by name; Auto finds the first one that is installed. server is the
// path of its server program; if it is empty, the program is looked up in PATH and in the directories
// of programs for root. A server that has to be started for its version runs in a new directory in
// temp; empty: the system's temporary directory.
func Find(ctx context.Context, name, server, temp string) (Found, error) {
	all, err := candidates(name)
	if err != nil {
		return Found{}, err
	}
	if server != "" {
		if _, err := executable(server); err != nil {
			return Found{}, hint.New(fmt.Errorf("no server program: %w", err), "name the server's program with server=PATH, or leave it out")
		}
	}
	var errs []error
	var broken *UnusableError
	for _, s := range all {
		f, err := find(ctx, s, server, temp)
		if err == nil {
			return f, nil
		}
		if other := (*db.OtherServerError)(nil); broken == nil || errors.As(broken, &other) {
			errors.As(err, &broken) // the service whose program it is knows best what is wrong with it
		}
		errs = append(errs, err)
	}
	remedy := fmt.Sprintf("install one (apt-get install %s), or name the server's program with server=PATH", all[0].Describe().Package)
	if broken != nil {
		return Found{}, hint.New(broken, cmp.Or(hint.Of(broken), remedy))
	}
	return Found{}, hint.New(errors.Join(errs...), remedy)
}

// candidates are the services for which a name stands.
func candidates(name string) ([]db.Service, error) {
	if name == Auto {
		return slices.DeleteFunc(databases.All(), func(s db.Service) bool { return s.Describe().Protocol != autoProtocol }), nil
	}
	s, err := databases.Find(name)
	return []db.Service{s}, err
}

func find(ctx context.Context, s db.Service, server, temp string) (f Found, err error) {
	d := s.Describe()
	f.Service = s
	if f.Programs, err = programsOf(d, server); err != nil {
		return Found{}, err
	}
	path := f.Programs[db.Server]
	banner, err := versionOutput(ctx, path, d.VersionArgs)
	if err != nil && d.VersionTrial != nil {
		banner, err = trialOutput(ctx, path, temp, *d.VersionTrial)
	}
	if err != nil {
		return Found{}, &UnusableError{hint.New(err, "mend or remove that program, or name another with server=PATH")}
	}
	f.Banner = banner
	if f.Version, err = s.Identify(banner); err != nil {
		return Found{}, &UnusableError{fmt.Errorf("%s: %s: %w", d.Name, path, err)}
	}
	return f, nil
}

// programsOf are the paths of a service's programs by role; server is the path of the server program, empty: it
// is looked up.
func programsOf(d db.Description, server string) (map[string]string, error) {
	all := map[string]string{}
	for _, p := range d.Programs {
		var path string
		var err error
		switch {
		case p.Role == db.Server && server != "":
			path, err = executable(server)
		case server != "" || p.Role != db.Server && len(p.Dirs) > 0: // several versions can be installed
			path, err = lookBeside(all[db.Server], p.Names)
		default:
			path, err = look(p.Names, p.Dirs...)
		}
		if err != nil && !p.Optional {
			return all, fmt.Errorf("%s: no %s program: %w", d.Name, p.Role, err)
		}
		all[p.Role] = path
	}
	return all, nil
}

// UnusableError is about a program that is there and cannot be used: it fails, or its version is refused.
type UnusableError struct{ error }

func (u *UnusableError) Unwrap() error { return u.error }

// versionOutput returns the output of a program with the arguments that print its version. It runs the
// program with an account without rights if possible. The error has the command and the first line of its output.
func versionOutput(ctx context.Context, path string, args []string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, trialBound)
	defer stop()
	cmd := exec.CommandContext(ctx, path, args...)
	if a, ok := account.Safe(path); ok {
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: a.Credential()}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", failedCall(cmd, err, out)
	}
	return string(out), nil
}

// failedCall is the error of a program that was asked for its version: the command, how it ended, and the first
// line of its output.
func failedCall(cmd *exec.Cmd, err error, out []byte) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // cmd has the path
	}
	err = fmt.Errorf("%s: %w", hint.Command(cmd.Args...), err)
	if line := db.FirstLine(string(out)); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return err
}

// trialOutput returns the output of a program that a db.Trial starts and that fails.
func trialOutput(ctx context.Context, path, temp string, t db.Trial) (string, error) {
	s, err := newScene(path, temp, t.Files)
	if err != nil {
		return "", err
	}
	defer s.end()
	ctx, stop := context.WithTimeout(ctx, trialBound)
	defer stop()
	out, err := s.command(ctx, t.Args).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// extraPath are directories of servers that are not in every user's PATH.
const extraPath = ":/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin:/usr/libexec"

// look returns the path of the first name that exists in any directory. The directories that match the
// patterns come before PATH.
func look(names []string, patterns ...string) (string, error) {
	for _, name := range names {
		for _, dir := range append(matching(patterns), filepath.SplitList(os.Getenv("PATH")+extraPath)...) {
			if path, err := executable(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w", strings.Join(names, " or "), exec.ErrNotFound)
}

// matching are the directories that match the patterns, in the order of the patterns, the highest
// number first.
func matching(patterns []string) (dirs []string) {
	number := func(dir string) (n int) {
		digits := strings.TrimFunc(dir, func(r rune) bool { return r < '0' || r > '9' })
		n, _ = strconv.Atoi(digits) // 0 without a number
		return n
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the patterns are constants
		slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(number(b), number(a)), strings.Compare(a, b)) })
		dirs = append(dirs, found...)
	}
	return dirs
}

// lookBeside finds a program beside a server that was unpacked from an archive, else in PATH.
func lookBeside(server string, names []string) (string, error) {
	bin := filepath.Dir(server)
	for _, dir := range []string{bin, filepath.Join(bin, "../bin"), filepath.Join(bin, "../scripts")} {
		for _, name := range names {
			if path, err := executable(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	return look(names)
}

func executable(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case st.IsDir() || st.Mode()&0o111 == 0:
		return "", fmt.Errorf("%s is not a program", path)
	}
	return path, nil
}
