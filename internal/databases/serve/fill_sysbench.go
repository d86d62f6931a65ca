package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/undo/trust"
)

// sysbenchFiller fills the tables with sysbench's prepare command.
type sysbenchFiller struct {
	data    sysbench.Data
	path    string
	version sysbench.Version
	script  []byte // text of the user's script; nil for one of sysbench's
	shares  bool   // the script has sysbench's options for tables
}

func (p Prepare) sysbenchFiller(ctx context.Context) (filler, error) {
	path, version, err := FindSysbench(ctx, p.Program)
	if err != nil {
		return nil, err
	}
	l := sysbenchFiller{data: p.Sysbench, path: path, version: version}
	if !sysbench.IsBundled(p.Sysbench.Script) {
		if l.script, err = trust.ReadGiven(p.Sysbench.Script); err != nil {
			return nil, fmt.Errorf("read the script: %w", err)
		}
	}
	l.shares = sysbench.SharesTables(p.Sysbench.Script, l.script)
	return l, nil
}

// FindSysbench finds sysbench. program is its path; if it is empty, sysbench is looked up in PATH.
func FindSysbench(ctx context.Context, program string) (path string, v sysbench.Version, err error) {
	if program == "" {
		path, err = look([]string{sysbench.Program})
	} else {
		path, err = executable(program)
	}
	if err != nil {
		return "", v, hint.New(fmt.Errorf("find sysbench: %w", err), "install it (apt-get install sysbench), or name it with sysbench=PATH")
	}
	text, err := versionOutput(ctx, path, []string{"--version"})
	if err != nil {
		return "", v, hint.New(&UnusableError{err}, "mend or remove that program, or name another with sysbench=PATH")
	}
	if v, err = sysbench.Identify(text); err != nil {
		return "", v, &UnusableError{hint.New(fmt.Errorf("%s: %w", path, err), cmp.Or(hint.Of(err), "name another with sysbench=PATH"))}
	}
	return path, v, nil
}

func (l sysbenchFiller) params() map[string]string {
	params := map[string]string{"load": sysbench.Program, "script": sysbench.DataScript(l.data.Script)}
	if l.script != nil {
		sum := sha256.Sum256(l.script)
		params["script_sha256"] = hex.EncodeToString(sum[:])
	}
	if l.shares {
		params["tables"], params["rows"] = strconv.Itoa(l.data.Tables), strconv.Itoa(l.data.Rows)
	}
	if len(l.data.Options) > 0 {
		params["options"] = strings.Join(l.data.Options, "\n")
	}
	return params
}

func (l sysbenchFiller) tool() (name, version string) { return sysbench.Program, l.version.Text }

func (l sysbenchFiller) size() int64 { return SysbenchBytes(l.data.Tables, l.data.Rows) }

// SysbenchBytes is an upper estimate of the disk space of tables of sysbench: 900 bytes for each row with its index
// entry.
func SysbenchBytes(tables, rows int) int64 { return 900 * int64(tables) * int64(rows) }

func (l sysbenchFiller) connections() int { return l.data.Tables }

// fill runs sysbench prepare.
func (l sysbenchFiller) fill(ctx context.Context, b *building) error {
	config, err := memfd.Create("tare-sysbench-options", sysbench.Server{
		Driver: "mysql", Socket: db.SocketFile, User: db.User, Database: db.Database, Secret: b.secret,
	}.Config())
	if err != nil {
		return err
	}
	defer config.Close()
	script, text, err := b.account.script(l.data.Script, l.script)
	if err != nil {
		return err
	}
	files := []*os.File{config}
	if text != nil {
		defer text.Close()
		files = append(files, text)
	}
	data := l.data
	data.Script = script
	threads := max(1, min(l.data.Tables, runtime.NumCPU(), 8))
	cmd := exec.Command(l.path, data.PrepareArgs("/proc/self/fd/3", threads, l.shares)...)
	cmd.ExtraFiles = files
	cmd.Dir = b.dir // the path of the socket is relative
	if err := b.account.applyTo(cmd, files...); err != nil {
		return err
	}
	return runAfter(ctx, b.account.beforeFork, "sysbench prepare", cmd, b.log)
}

// script is the path of a script for a client. If the account cannot read the file, it is that of
// descriptor 4, a copy in memory.
func (p *runAs) script(path string, text []byte) (string, *os.File, error) {
	if p == nil || text == nil || p.Reads(path) {
		return path, nil, nil
	}
	f, err := memfd.Create("tare-sysbench-script", text)
	return "/proc/self/fd/4", f, err
}
