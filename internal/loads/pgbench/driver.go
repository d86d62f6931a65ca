package pgbench

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/linux/stdio"
	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// The kinds of pgbench.
const (
	// Kind runs pgbench and counts the transactions in pgbench's own log.
	Kind = "pgbench" // parameters: Params
	// KindExec becomes pgbench. Before that it makes a symbolic link from each name of a log to an
	// inherited pipe, so that pgbench writes its logs into pipes.
	KindExec = "pgbench-exec" // parameters: pgbenchExec
	// KindTidy removes a directory when its standard input ends, also because its parent was killed.
	KindTidy = "pgbench-tidy" // parameters: a path
)

// Params are the parameters of pgbench.
type Params struct {
	load.Database
	// Program is pgbench's path. Empty: it is looked up beside the server, then in PATH.
	Program string `json:"program,omitempty"`
	// Script is the name of a built-in script or the absolute path of a file.
	Script string `json:"script"`
	Mode   string `json:"mode"`
	// Clients is the number of connections, Threads the number of pgbench's threads.
	Clients int      `json:"clients"`
	Threads int      `json:"threads"`
	Options []string `json:"options,omitempty"`
	// Seconds is the time after which pgbench ends; 0: it runs until SIGALRM.
	Seconds int `json:"seconds,omitempty"`
	// NoLog lets pgbench write no log, so that no transaction is counted: for measuring what
	// counting costs.
	NoLog bool `json:"no_log,omitempty"`
}

// firstFile is the number of the first descriptor that a child inherits through ExtraFiles.
const firstFile = 3

const (
	// pollInterval is the time between two readings of the logs.
	pollInterval = 2 * time.Millisecond
	// openTimeout is how long the driver waits for pgbench to open its logs.
	openTimeout = 10 * time.Second
	// pipeBytes is the capacity of a log's pipe: the default of fs.pipe-max-size. It holds the log of
	// a busy pgbench while this process waits for a CPU.
	pipeBytes = 1 << 20
)

// pgbenchRun is a running pgbench with its server.
type pgbenchRun struct {
	Params
	m       *counter.Memory
	slot    *counter.Slot
	server  *load.Attached
	process *serve.Process
	script  load.Script
	logs    *logDir // nil with NoLog
	pid     int
	watch   aborted         // pgbench's standard error
	streams []*stdio.Stream // by log, as are pipes and pieces
	pipes   []*os.File      // read ends
	pieces  []tool.Pieces   // incomplete lines
	exact   bool            // the buffer of each log was found in pgbench's memory, see findBuffers
	polled  int64           // time of the last reading of the logs, CLOCK_MONOTONIC ns
	version tool.Version
}

// Bodies are the loads of this folder, by kind.
func Bodies() map[string]load.Body {
	return map[string]load.Body{Kind: load.Counted(run), KindExec: Become, KindTidy: tidy}
}

func run(ctx context.Context, m *counter.Memory, params []byte) error {
	p := &pgbenchRun{m: m, slot: m.Slot(0)}
	if err := hidden.Decode(params, &p.Params); err != nil {
		return err
	}
	p.Threads = min(p.Threads, p.Clients) // as pgbench does
	err := load.EndError(ctx, p.run(ctx))
	return errors.Join(err, p.end(err != nil))
}

func (p *pgbenchRun) run(ctx context.Context) (err error) {
	if p.server, err = p.Attach(ctx, postgres.Name); err != nil {
		return err
	}
	var path string
	if path, p.version, err = serve.FindPgbench(ctx, p.Program, p.server.Recipe.Server.Path); err != nil {
		return err
	}
	if err := p.becomeClient(path); err != nil {
		return err
	}
	settings, err := p.server.Ready(ctx)
	if err != nil {
		return err
	}
	if err := p.start(path); err != nil {
		return err
	}
	if err := p.findBuffers(ctx); err != nil {
		return err
	}
	settings = append(settings, record.Setting{Name: "pgbench", Got: p.version.Text}, record.Setting{Name: "pgbench counted", Got: p.countMethod()})
	if err := readback.Write(load.FactsFd, settings); err != nil {
		return err
	}
	return p.follow(ctx)
}

// becomeClient reads the script and makes the log directory, for which it needs root's rights, and then
// changes this process to the client's account.
func (p *pgbenchRun) becomeClient(program string) (err error) {
	if p.script = load.Builtin(p.Script); !tool.IsBuiltin(p.Script) {
		if p.script, err = load.ReadScript(p.Script); err != nil {
			return err
		}
		if strings.HasSuffix(p.Script, sqlfile.Ending) {
			if err := sqlfile.CheckScript(p.Script, sqlfile.Postgres); err != nil {
				return err
			}
		}
	}
	if p.NoLog {
		return p.server.Become(program)
	}
	// Cleanup after a kill removes it with the arm or with the run's directory.
	if p.logs, err = makeLogDir(p.server.Files); err != nil {
		return err
	}
	return p.server.Become(program, p.logs.path)
}

// countMethod says, for the manifest, how transactions are counted.
func (p *pgbenchRun) countMethod() string {
	switch {
	case p.NoLog:
		return "not"
	case p.exact:
		return "each as it ends"
	}
	return "in blocks of 4096 bytes of its log"
}

// start starts pgbench with a pipe for the log of each of its threads.
func (p *pgbenchRun) start(path string) error {
	server, files, err := serve.PgbenchServer(p.server.Address())
	defer func() { serve.CloseAll(files) }()
	if err != nil {
		return err
	}
	run := tool.Command{
		Server: server, Mode: p.Mode, Clients: p.Clients, Threads: p.Threads, Seconds: p.Seconds, Options: p.Options,
	}
	if p.version.Major >= 11 {
		run.Seed = 1 // the same random numbers in all arms
	}
	if p.Seconds == 0 {
		run.Seconds = tool.Forever
	}
	name, copied, err := p.script.Open(serve.PgbenchFiles)
	if err != nil {
		return err
	}
	if run.Script = name; copied != nil {
		files = append(files, copied)
	}
	child := pgbenchExec{Path: path}
	if p.logs != nil {
		if files, err = p.logs.inherited(files, &child); err != nil {
			return err
		}
		// start returns when pgbench has opened the logs; the names are not needed any more.
		defer p.logs.remove()
		child.First, child.Threads, run.LogPrefix = firstFile+len(files), p.Threads, child.Prefix
		if files, err = p.addPipes(files); err != nil {
			return err
		}
	}
	child.Args = run.Args()
	params, err := json.Marshal(child)
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", load.Command, KindExec, string(params))
	cmd.ExtraFiles, cmd.Env = files, serve.PgbenchEnviron()
	p.watch.next = os.Stderr
	if p.process, err = serve.Start(cmd, "pgbench", &p.watch); err != nil {
		return err
	}
	p.pid = cmd.Process.Pid
	return p.awaitLogs(child.Prefix)
}

// follow counts transactions until pgbench or ctx ends.
func (p *pgbenchRun) follow(ctx context.Context) error {
	runtime.LockOSThread() // nanosleep below then wakes this thread itself, unlike time.Sleep
	p.m.Enter(p.slot, p.Clients)
	began, warm := time.Now(), false
	for ctx.Err() == nil {
		if p.m.Paused() {
			if err := p.pause(); err != nil {
				return err
			}
		}
		if err := p.count(); err != nil {
			return err
		}
		if !warm && (p.NoLog || p.warm(began)) {
			warm = true
			p.m.SetReady()
		}
		if err := p.checkAlive(); err != nil {
			return err
		}
		if p.ended() {
			return p.count()
		}
		t := unix.NsecToTimespec(int64(pollInterval))
		_ = unix.Nanosleep(&t, nil) // a signal may end it early
	}
	return nil
}

// warm says whether enough transactions have ended for the load to be ready.
func (p *pgbenchRun) warm(began time.Time) bool {
	n := p.m.Ops()
	return n >= uint64(p.Clients*load.WarmEvents) || n > 0 && time.Since(began) > load.WarmFor
}

// ended says whether pgbench has ended.
func (p *pgbenchRun) ended() bool {
	select {
	case <-p.process.Done():
		return true
	default:
		return false
	}
}

// checkAlive returns the error that ended the server or else pgbench; nil while both run.
func (p *pgbenchRun) checkAlive() error {
	if err := p.server.Alive(); err != nil {
		return err
	}
	if line := p.watch.line(); line != "" {
		return p.server.Cause(lostClient(line, p.Script, p.script))
	}
	if p.process == nil || !p.ended() || p.process.OK() && p.Seconds > 0 {
		return nil
	}
	return p.server.Cause(p.process.Ended())
}

// end stops pgbench, then the server. broken says that the run failed. Otherwise end sends SIGALRM,
// pgbench's own signal for the end of its time, so that pgbench prints its summary.
func (p *pgbenchRun) end(broken bool) error {
	var errs []error
	if p.process != nil {
		if !broken && !p.ended() {
			errs = append(errs, p.signal(unix.SIGCONT), p.signal(unix.SIGALRM), p.countDown())
		}
		p.process.Kill()
		if broken && p.m.InFlight() > 0 {
			p.slot.HeardError() // the transactions in flight will not finish
		}
		p.slot.Idle()
	}
	errs = append(errs, serve.CloseAll(p.pipes), p.server.Stop())
	return errors.Join(errs...)
}
