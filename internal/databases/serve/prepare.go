package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/logs/sysbench"
)

// Prepare are the parameters of a data set that is to be prepared.
type Prepare struct {
	// Server is the path of the server program; empty: it is looked up in PATH.
	Server string `json:"server,omitempty"`
	// Options are passed to the server as they are.
	Options []string `json:"options,omitempty"`
	// At most one of Dump, Sysbench, Pgbench and Hits is set. It says how to fill the server; without any,
	// the server stays empty. Program is the path of sysbench or pgbench; empty: it is looked up in PATH.
	// Dump is the absolute path of a logical dump, whose statements may have StatementSize bytes and take
	// StatementTime; 0: the usual bounds.
	Dump          string        `json:"dump,omitempty"`
	StatementSize int64         `json:"statement_size,omitempty"`
	StatementTime time.Duration `json:"statement_time,omitempty"`

	Sysbench sysbench.Data    `json:"sysbench,omitzero"`
	Pgbench  *pgbench.Data    `json:"pgbench,omitempty"`
	Hits     *clickhouse.Hits `json:"hits,omitempty"`
	Program  string           `json:"program,omitempty"`
	// Into is the directory for dataset.Prepared.
	Into string `json:"into"`
}

// dataLayout is increased with every version of tare that makes another data set of the same
// parameters.
const dataLayout = 2

// readyLimit is how long a server may take to answer its first query.
const readyLimit = time.Minute

// runInto runs, and writes dataset.Prepared into p.Into.
func (p Prepare) runInto(ctx context.Context, kind string) error {
	if _, err := os.ReadDir(p.Into); err != nil {
		return fmt.Errorf("the directory for the data set: %w", err)
	}
	store, err := dataset.Default()
	if err != nil {
		return err
	}
	out, err := p.Run(ctx, kind, store, os.Stderr)
	if err != nil {
		return err
	}
	return out.Write(p.Into)
}

// Run prepares the data set unless it is in the store. The output of the programs goes to log.
func (p Prepare) Run(ctx context.Context, kind string, store dataset.Store, log io.Writer) (dataset.Prepared, error) {
	f, err := Find(ctx, kind, p.Server, p.Into)
	if err != nil {
		return dataset.Prepared{}, err
	}
	filler, err := p.filler(ctx, f)
	if err != nil {
		return dataset.Prepared{}, err
	}
	about, err := p.about(f, filler)
	if err != nil {
		return dataset.Prepared{}, err
	}
	set, cached, err := store.Use(ctx, about, need(filler), func(ctx context.Context, dir string) (map[string]string, error) {
		b := building{Prepare: p, found: f, filler: filler, dir: dir, log: log}
		return f.notes(), b.run(ctx)
	})
	if err != nil {
		return dataset.Prepared{}, fmt.Errorf("prepare the data set: %w", err)
	}
	if set.Instead != "" {
		fmt.Fprintln(log, "prepared anew, for the data set in the cache is not used:", set.Instead)
	}
	out := dataset.Prepared{
		Dir: set.Dir, Key: set.Key, Cached: cached, Bytes: set.Bytes, Seconds: set.Seconds,
		Versions: map[string]string{f.Name(): f.Version.Text}, Program: f.Programs[db.Server], Instead: set.Instead,
	}
	if program, version := filler.tool(); program != "" {
		out.Versions[program] = version
	}
	return out, nil
}

// about is everything on which the data set depends.
func (p Prepare) about(f Found, filler filler) (dataset.About, error) {
	params := filler.params()
	if len(p.Options) > 0 {
		params["server_options"] = strings.Join(p.Options, "\n")
	}
	if p.Server != "" {
		path, err := filepath.Abs(p.Server)
		if err != nil {
			return dataset.About{}, err
		}
		params["server"] = path
	}
	return dataset.About{Kind: f.Name(), Version: f.Version.Text, Layout: dataLayout, Params: params}, nil
}

// need is the disk space for building, in bytes: an empty server with its logs, and the data.
func need(filler filler) int64 {
	const empty = 200 << 20
	return empty + filler.size()
}

// building is a data set that is being built in dir.
type building struct {
	Prepare
	found   Found
	filler  filler
	dir     string
	dial    string // address of a server without a socket
	secret  string
	account *runAs // runs the programs; nil: tare's own account
	log     io.Writer
}

func (b *building) run(ctx context.Context) error {
	// Some servers wait forever on a full disk, so the build ends when space runs short.
	var watch reserve.Watch
	watch.Host(b.dir, "") // the store adds the hint
	ctx, stop := watch.During(ctx)
	err := b.steps(ctx)
	if full := stop(); err != nil && full != nil {
		return full // it is the cause of the programs' errors
	}
	if err != nil && noSpace.MatchString(err.Error()) {
		return fmt.Errorf("%w: %w: %w", reserve.ErrShort, unix.ENOSPC, err)
	}
	return err
}

// noSpace finds ENOSPC (number 28) in messages of servers: "failed with error 28", "(Errcode: 28 "No space
// left on device")", "OS errno 28".
var noSpace = regexp.MustCompile(`(?i)\berr(or|no|code)( number| code)?:? 28\b|no space left on device`)

// steps installs a server, starts it, fills it and stops it.
func (b *building) steps(ctx context.Context) error {
	defer func() { b.account.Close() }()
	server := Server{Dir: b.dir, Options: b.Options, Connections: b.filler.connections(), Walled: b.runsUserSQL()}
	if b.found.Service.Describe().TCPOnly {
		var err error
		if b.dial, err = FreeLoopback(); err != nil {
			return err
		}
		server.Listen = b.dial
	}
	r, err := b.recipe(server)
	if err != nil {
		return err
	}
	b.secret = newSecret()
	if err := os.WriteFile(filepath.Join(b.dir, db.SecretFile), []byte(b.secret), 0o600); err != nil {
		return fmt.Errorf("keep the password: %w", err)
	}
	if err := os.Mkdir(filepath.Join(b.dir, db.RunDir), 0o700); err != nil {
		return fmt.Errorf("make the directory for temporary files: %w", err)
	}
	if err := b.install(ctx, r); err != nil {
		return err
	}
	p, err := server.startAs(r, r.Loading, true, b.log)
	if err != nil {
		return err
	}
	if err := b.fill(ctx, r, p); err != nil {
		p.abort(r)
		return err
	}
	if err := p.Stop(r.Stop); err != nil {
		return err
	}
	if err := noWayOut(b.dir); err != nil {
		return err
	}
	return b.removeLeftovers(r)
}

// runsUserSQL says whether a user's SQL fills the server: a dump, or a script of the user's.
func (p Prepare) runsUserSQL() bool {
	return p.Dump != "" || p.Sysbench.Script != "" && !sysbench.IsBundled(p.Sysbench.Script)
}

// install makes an empty data directory.
func (b *building) install(ctx context.Context, r db.Recipe) error {
	// The server's account cannot make it, because it does not own the directory of the data set.
	if os.Geteuid() == 0 && len(r.Users) > 0 && len(r.Install) > 0 {
		if err := os.Mkdir(filepath.Join(b.dir, db.DataDir), 0o700); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
	}
	var err error
	if b.account, err = newRunAs(r, b.dir, true, b.log); err != nil {
		return err
	}
	before := b.account.beforeFork
	if r.Segment != "" {
		before = func() error { ownSharedMemory(); return b.account.beforeFork() }
	}
	for _, c := range r.Install {
		if err := runAfter(ctx, before, "the installation of "+b.found.Name(), b.account.command(r, c.Path, "", c.Args), b.log); err != nil {
			return err
		}
	}
	return nil
}

// recipe is the recipe of a server with default settings, which the build fills.
func (b *building) recipe(s Server) (db.Recipe, error) {
	settings, err := db.Complete(b.found.Service.Describe(), nil)
	if err != nil {
		return db.Recipe{}, err
	}
	c := db.Config{
		Programs: b.found.Programs, Dir: s.Dir, Connections: s.Connections, Settings: settings, Options: s.Options, Expect: need(b.filler),
	}
	if err := c.Listen(s.Listen); err != nil {
		return db.Recipe{}, err
	}
	return b.found.Service.Recipe(b.found.Version, c)
}

// fill waits for the server, sets it up, fills it and finishes the data set.
func (b *building) fill(ctx context.Context, r db.Recipe, p *Process) error {
	if err := b.setUp(ctx, r, p); err != nil {
		return err
	}
	if err := errors.Join(b.filler.fill(ctx, b), ctx.Err()); err != nil {
		if dead := p.Alive(); dead != nil {
			return dead
		}
		return err
	}
	c, err := Connect(b.address())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.ExecEach(ctx, r.Finish); err != nil {
		return fmt.Errorf("finish the data set: %w", err)
	}
	return nil
}

// address is the address of the server that is being filled, with the load's user.
func (b *building) address() db.Address {
	return db.Address{
		Protocol: b.found.Service.Describe().Protocol, Dir: b.dir, Dial: b.dial,
		User: db.User, Secret: b.secret, Database: db.Database,
	}
}

// setUp waits until the server answers its superuser, and runs the statements of Recipe.Setup. The superuser
// connects never again: from then on a user's SQL may have defined what the names in a statement mean.
func (b *building) setUp(ctx context.Context, r db.Recipe, p *Process) error {
	a := b.address()
	if a.Database = ""; r.Admin != db.User {
		a.User, a.Secret = r.Admin, ""
	}
	c, err := Connect(a)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Await(ctx, readyLimit, p.Alive); err != nil {
		return err
	}
	for _, s := range r.Setup {
		if err := c.Exec(ctx, strings.ReplaceAll(s, "{secret}", b.secret)); err != nil {
			return fmt.Errorf("set the server up: %s: %w", s, err)
		}
	}
	return nil
}

// removeLeftovers removes files of the stopped server that copies of the data set do not need.
func (b *building) removeLeftovers(r db.Recipe) error {
	root, err := os.OpenRoot(b.dir) // the server's account can create links below it
	if err != nil {
		return fmt.Errorf("tidy the data set: %w", err)
	}
	defer root.Close()
	for _, pattern := range r.Leftovers {
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := root.RemoveAll(name); err != nil {
				return fmt.Errorf("tidy the data set: %w", err)
			}
		}
	}
	return nil
}

// run runs a program to its end. If ctx ends before, it kills the program's process group.
func run(ctx context.Context, name string, cmd *exec.Cmd, log io.Writer) error {
	return runAfter(ctx, nothing, name, cmd, log)
}

// runAfter is run, but first calls before on the thread that forks the program.
func runAfter(ctx context.Context, before func() error, name string, cmd *exec.Cmd, log io.Writer) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	p, err := startAfter(before, cmd, name, log)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // it may have ended
		<-p.Done()
		return ctx.Err()
	}
	if !p.OK() {
		return p.Ended()
	}
	return nil
}
