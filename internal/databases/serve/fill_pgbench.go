package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/logs/pgbench"
)

// pgbenchFiller fills the tables with pgbench --initialize.
type pgbenchFiller struct {
	data    pgbench.Data
	path    string
	version pgbench.Version
}

func (p Prepare) pgbenchFiller(ctx context.Context, f Found) (filler, error) {
	path, version, err := FindPgbench(ctx, p.Program, f.Programs[db.Server])
	if err != nil {
		return nil, err
	}
	return pgbenchFiller{*p.Pgbench, path, version}, nil
}

func lookPgbench(program, server string) (string, error) {
	switch {
	case program != "":
		return executable(program)
	case server != "":
		return lookBeside(server, []string{pgbench.Program})
	default:
		return look([]string{pgbench.Program}, postgres.Dirs()...)
	}
}

// FindPgbench finds pgbench. program is its path; if it is empty, pgbench is looked up beside server,
// the path of a server program, or, without that, in PATH.
func FindPgbench(ctx context.Context, program, server string) (path string, v pgbench.Version, err error) {
	if path, err = lookPgbench(program, server); err != nil {
		return "", v, hint.New(fmt.Errorf("find pgbench: %w", err),
			"install it (apt-get install postgresql-contrib), or name it with pgbench=PATH")
	}
	text, err := versionOutput(ctx, path, []string{"--version"})
	if err != nil {
		return "", v, hint.New(&UnusableError{err}, "mend or remove that program, or name another with pgbench=PATH")
	}
	if v, err = pgbench.Identify(text); err != nil {
		return "", v, &UnusableError{hint.New(fmt.Errorf("%s: %w", path, err), cmp.Or(hint.Of(err), "name another with pgbench=PATH"))}
	}
	return path, v, nil
}

func (f pgbenchFiller) params() map[string]string {
	params := map[string]string{"load": pgbench.Program, "scale": strconv.Itoa(f.data.Scale)}
	if len(f.data.Options) > 0 {
		params["options"] = strings.Join(f.data.Options, "\n")
	}
	return params
}

func (f pgbenchFiller) tool() (name, version string) { return pgbench.Program, f.version.Text }

func (f pgbenchFiller) size() int64 { return PgbenchBytes(f.data) }

// PgbenchBytes is an upper estimate of the disk space of pgbench's tables and of the write-ahead log.
func PgbenchBytes(d pgbench.Data) int64 { return 2 * d.Bytes() }

func (pgbenchFiller) connections() int { return 1 }

func (f pgbenchFiller) fill(ctx context.Context, b *building) error {
	server, files, err := PgbenchServer(b.address())
	if err != nil {
		return err
	}
	defer CloseAll(files)
	cmd := exec.Command(f.path, f.data.InitArgs(server)...)
	cmd.ExtraFiles, cmd.Env, cmd.Dir = files, PgbenchEnviron(), "/"
	if err := b.account.applyTo(cmd, files[0]); err != nil { // the account owns the other, a directory
		return err
	}
	return run(ctx, "pgbench --initialize", cmd, b.log)
}

// Descriptors that pgbench inherits.
const (
	pgbenchPass = 3 + iota
	pgbenchSocket
	// PgbenchFiles is the first free descriptor.
	PgbenchFiles
)

// PgbenchServer is a server's address for pgbench's options, and the files that pgbench inherits from
// descriptor 3 on: the password as a memfd, and the directory of the socket, whose path may be too
// long for a socket's address.
func PgbenchServer(a db.Address) (s pgbench.Server, files []*os.File, err error) {
	s = pgbench.Server{User: a.User, Database: a.Database}
	pass, err := memfd.Create("tare-pgbench-password", pgbench.PassFile(a.Secret))
	if err != nil {
		return s, nil, err
	}
	files = []*os.File{pass}
	if err := pass.Chmod(0o600); err != nil { // libpq refuses other modes
		return s, files, fmt.Errorf("keep the password: %w", err)
	}
	dir := a.Dir
	if a.Dial == "" {
		dir = filepath.Join(dir, postgres.SocketDir)
		s.Host, s.Port = "/proc/self/fd/"+strconv.Itoa(pgbenchSocket), postgres.Port
	} else if s.Host, s.Port, err = db.SplitAddress(a.Dial); err != nil {
		return s, files, err
	} else {
		dir = "/" // no socket
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return s, files, fmt.Errorf("open %s: %w", dir, err)
	}
	return s, append(files, os.NewFile(uintptr(fd), dir)), nil
}

// PgbenchEnviron is pgbench's environment. Of PostgreSQL's variables it has only the path of the
// password.
func PgbenchEnviron() []string {
	return append(cleanEnviron(), "PGPASSFILE=/proc/self/fd/"+strconv.Itoa(pgbenchPass), "LC_ALL=C")
}

// CloseAll closes files and returns all errors.
func CloseAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
