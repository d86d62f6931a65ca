package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/clonetree"
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
	candidates := slices.DeleteFunc(databases.All(), func(s db.Service) bool { return s.Describe().Protocol != autoProtocol })
	if name != Auto {
		s, err := databases.Find(name)
		if err != nil {
			return Found{}, err
		}
		candidates = []db.Service{s}
	}
	var errs []error
	for _, s := range candidates {
		f, err := find(ctx, s, server, temp)
		if err == nil {
			return f, nil
		}
		errs = append(errs, err)
	}
	d := candidates[0].Describe()
	return Found{}, hint.New(errors.Join(errs...),
		fmt.Sprintf("install one (apt-get install %s), or name the server's program with server=PATH", d.Package))
}

func find(ctx context.Context, s db.Service, server, temp string) (Found, error) {
	d := s.Describe()
	f := Found{Service: s, Programs: map[string]string{}}
	for _, p := range d.Programs {
		var path string
		var err error
		switch {
		case p.Role == db.Server && server != "":
			path, err = executable(server)
		case server != "" || p.Role != db.Server && len(p.Dirs) > 0: // several versions can be installed
			path, err = lookBeside(f.Programs[db.Server], p.Names)
		default:
			path, err = look(p.Names, p.Dirs...)
		}
		if err != nil && !p.Optional {
			return Found{}, fmt.Errorf("%s: no %s program: %w", d.Name, p.Role, err)
		}
		f.Programs[p.Role] = path
		if p.Role != db.Server {
			continue
		}
		banner, err := versionOutput(ctx, path, d.VersionArgs)
		if err != nil && d.VersionTrial != nil {
			banner, err = trialOutput(ctx, path, temp, *d.VersionTrial)
		}
		if err != nil {
			return Found{}, fmt.Errorf("%s: ask %s for its version: %w", d.Name, path, err)
		}
		f.Banner = banner
		if f.Version, err = s.Identify(banner); err != nil {
			return Found{}, fmt.Errorf("%s: %s: %w", d.Name, path, err)
		}
	}
	return f, nil
}

// versionOutput returns the output of a program with the arguments that print its version. It runs the
// program with an account without rights if possible.
func versionOutput(ctx context.Context, path string, args []string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, path, args...)
	if a, ok := account.Safe(path); ok {
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: a.Credential()}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// trialOutput returns the output of a program that a db.Trial starts and that fails.
func trialOutput(ctx context.Context, path, temp string, t db.Trial) (string, error) {
	dir, err := os.MkdirTemp(temp, "tare-version-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	for _, f := range t.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Path), []byte(f.Text), 0o600); err != nil {
			return "", err
		}
	}
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, path, t.Args...)
	cmd.Dir = dir
	if a, ok := account.Safe(path); ok {
		if err := clonetree.GiveAll(dir, a.UID, a.GID); err != nil {
			return "", err
		}
		at, err := os.Open(dir) // the account may not reach it by its path
		if err != nil {
			return "", err
		}
		defer at.Close()
		cmd.Dir, cmd.SysProcAttr = fmt.Sprintf("/proc/self/fd/%d", at.Fd()), &syscall.SysProcAttr{Credential: a.Credential()}
	}
	out, err := cmd.CombinedOutput()
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
