package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/facts"
	"github.com/tarelab/tare/internal/linux/stdio"
	"github.com/tarelab/tare/internal/pgbench"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/record"
)

// The kinds of pgbench.
const (
	// KindPgbench runs pgbench, counted by its log of transactions.
	KindPgbench = "pgbench" // parameters: Pgbench
	// kindPgbenchExec becomes pgbench, whose logs are pipes that it inherits.
	kindPgbenchExec = "pgbench-exec" // parameters: pgbenchExec
)

// Pgbench are the parameters of pgbench.
type Pgbench struct {
	Database
	// Program is pgbench's path; empty: that beside the server, or in PATH.
	Program string `json:"program,omitempty"`
	// Script is a built-in one or the absolute path of a file.
	Script string `json:"script"`
	Mode   string `json:"mode"`
	// Clients are its connections, Threads its threads.
	Clients int      `json:"clients"`
	Threads int      `json:"threads"`
	Options []string `json:"options,omitempty"`
	// Seconds until pgbench ends by itself; 0: when it is told to.
	Seconds int `json:"seconds,omitempty"`
	// NoLog leaves the transactions uncounted: for what counting costs.
	NoLog bool `json:"no_log,omitempty"`
}

const (
	// pgPoll is how long a transaction may be over before it is counted.
	pgPoll = 2 * time.Millisecond
	// pgFind bounds the search for the streams of pgbench's logs.
	pgFind = 10 * time.Second
	// pipeBytes holds what a busy pgbench logs while this process waits for its
	// turn; the kernel allows everybody that much.
	pipeBytes = 1 << 20
)

// pgbenchRun is a running pgbench with its server.
type pgbenchRun struct {
	Pgbench
	m       *counter.Memory
	slot    *counter.Slot
	server  *attached
	tool    *serve.Process
	pid     int
	watch   aborted
	streams []*stdio.Stream
	pipes   []*os.File
	logs    []pgbench.Log
	exact   bool
	looked  int64 // when transactions were last counted, CLOCK_MONOTONIC ns
	version pgbench.Version
}

func runPgbench(ctx context.Context, m *counter.Memory, params []byte) error {
	p := &pgbenchRun{m: m, slot: m.Slot(0)}
	if err := decode(params, &p.Pgbench); err != nil {
		return err
	}
	p.Threads = min(p.Threads, p.Clients) // as pgbench does it
	err := p.run(ctx)
	if ctx.Err() != nil {
		err = nil // what breaks from here on is not the server's doing
	}
	return errors.Join(remedied(err), p.end(err != nil))
}

func (p *pgbenchRun) run(ctx context.Context) (err error) {
	if p.server, err = p.attach(ctx, service.PostgreSQL); err != nil {
		return err
	}
	var path string
	if path, p.version, err = serve.FindPgbench(ctx, p.Program, p.server.recipe.Server.Path); err != nil {
		return err
	}
	settings, err := p.server.ready(ctx)
	if err != nil {
		return err
	}
	if err := p.start(path); err != nil {
		return err
	}
	if err := p.find(ctx); err != nil {
		return err
	}
	settings = append(settings, record.Setting{Name: "pgbench", Got: p.version.Text}, record.Setting{Name: "pgbench counted", Got: p.how()})
	if err := facts.Write(factsFd, settings); err != nil {
		return err
	}
	return p.follow(ctx)
}

// how the transactions are counted.
func (p *pgbenchRun) how() string {
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
	at, err := p.server.address()
	if err != nil {
		return err
	}
	server, files, err := serve.PgbenchServer(at)
	defer func() { serve.CloseAll(files) }()
	if err != nil {
		return err
	}
	run := pgbench.Run{
		Server: server, Script: p.Script, Mode: p.Mode, Clients: p.Clients, Threads: p.Threads,
		Seconds: p.Seconds, Options: p.Options,
	}
	if p.version.Major >= 11 {
		run.Seed = 1 // the same in all arms
	}
	if p.Seconds == 0 {
		run.Seconds = pgbench.Forever
	}
	child := pgbenchExec{Path: path, First: serve.PgbenchFiles}
	if !p.NoLog {
		dir, err := os.MkdirTemp("", "tare-pgbench-")
		if err != nil {
			return fmt.Errorf("make a directory for logs: %w", err)
		}
		// Once they are open, pgbench needs the names no more.
		defer os.RemoveAll(dir)
		child.Prefix, child.Threads = filepath.Join(dir, "log"), p.Threads
		run.LogPrefix = child.Prefix
		if files, err = p.addPipes(files); err != nil {
			return err
		}
	}
	child.Args = run.Args()
	params, err := json.Marshal(child)
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", Command, kindPgbenchExec, string(params))
	cmd.ExtraFiles, cmd.Env = files, serve.PgbenchEnviron()
	p.watch.next = os.Stderr
	if p.tool, err = serve.Start(cmd, "pgbench", &p.watch); err != nil {
		return err
	}
	p.pid = cmd.Process.Pid
	return p.opened(child.Prefix)
}

// addPipes adds the ends to write to.
func (p *pgbenchRun) addPipes(files []*os.File) ([]*os.File, error) {
	for range p.Threads {
		r, w, err := os.Pipe()
		if err != nil {
			return files, fmt.Errorf("make a pipe for pgbench's log: %w", err)
		}
		p.pipes, files = append(p.pipes, r), append(files, w)
		// A smaller one is only more likely to hold pgbench up.
		_, _ = unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, pipeBytes)
	}
	return files, nil
}

// opened waits until pgbench has opened its logs.
func (p *pgbenchRun) opened(prefix string) error {
	for end := time.Now().Add(pgFind); len(p.pipes) > 0; time.Sleep(time.Millisecond) {
		if err := p.alive(); err != nil {
			return err
		}
		all := true
		for _, r := range p.pipes {
			all = all && opens(p.pid, r) > 1 // the one that it inherited is not it
		}
		if all {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("pgbench did not open its log %s within %v", filepath.Base(prefix), pgFind)
		}
	}
	return nil
}

// opens is how many descriptors a process has of a pipe.
func opens(pid int, pipe *os.File) (n int) {
	var st unix.Stat_t
	if err := unix.Fstat(int(pipe.Fd()), &st); err != nil {
		return 0
	}
	links, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == fmt.Sprintf("pipe:[%d]", st.Ino) {
			n++
		}
	}
	return n
}

// find finds the streams behind the logs. Where that is not possible,
// transactions are counted some dozens at a time, which is said.
func (p *pgbenchRun) find(ctx context.Context) error {
	p.exact = len(p.pipes) > 0
	for _, r := range p.pipes {
		s, err := stdio.New(p.pid, r)
		if err != nil {
			return err
		}
		for end := time.Now().Add(pgFind); ; time.Sleep(time.Millisecond) {
			if err = s.Find(); !errors.Is(err, stdio.ErrNotFound) || time.Now().After(end) {
				break
			}
			if err := errors.Join(ctx.Err(), p.alive()); err != nil {
				return err
			}
		}
		if err != nil {
			p.exact = false
			fmt.Fprintf(os.Stderr, "tare: transactions are counted in blocks: %v\n", err)
		}
		p.streams, p.logs = append(p.streams, s), append(p.logs, pgbench.Log{})
	}
	return nil
}

// follow counts transactions until pgbench ends or the load is told to.
func (p *pgbenchRun) follow(ctx context.Context) error {
	runtime.LockOSThread() // a sleep of its own, not one of the runtime's timers
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
		if err := p.alive(); err != nil {
			return err
		}
		if p.ended() {
			return p.count()
		}
		t := unix.NsecToTimespec(int64(pgPoll))
		_ = unix.Nanosleep(&t, nil) // cut short, it looks earlier
	}
	return nil
}

// warm says whether enough was done for the load to be ready.
func (p *pgbenchRun) warm(began time.Time) bool {
	n := p.m.Ops()
	return n >= uint64(p.Clients*warmEvents) || n > 0 && time.Since(began) > warmFor
}

// count counts what has ended.
func (p *pgbenchRun) count() error {
	now := p.m.Now() // before looking, which is part of no latency
	for i, s := range p.streams {
		var bad error
		err := s.Follow(func(piece []byte) {
			bad = errors.Join(bad, p.logs[i].Feed(piece, func(t pgbench.Transaction) { p.hear(now, t) }))
		})
		if err = errors.Join(err, bad); err != nil {
			return err
		}
	}
	p.looked = now
	return nil
}

// hear counts one transaction. It was over after the last look; if there was a
// pause since then, the moment in the log says on which side of it.
func (p *pgbenchRun) hear(now int64, t pgbench.Transaction) {
	over := now
	if thawed := p.m.Thawed(); p.looked < thawed && thawed <= now && p.moment(t, now) < (p.looked+thawed)/2 {
		over = p.looked
	}
	switch {
	case t.Failed:
		p.slot.HeardError()
	case !t.Skipped:
		p.m.Heard(p.slot, over, t.Latency)
	}
}

// moment is when a transaction ended by the clock of the counters, as far as
// the other clock was not set meanwhile; now if it was.
func (p *pgbenchRun) moment(t pgbench.Transaction, now int64) int64 {
	ended := now - (time.Now().UnixNano() - t.Ended)
	if slack := int64(time.Second); ended > now+slack || ended < p.looked-slack {
		return now
	}
	return ended
}

// pause stops pgbench while the gate is closed. What is in flight then is
// finished by the server and, when the gate opens again, told apart.
func (p *pgbenchRun) pause() error {
	if err := p.signal(unix.SIGSTOP); err != nil {
		return err
	}
	for !stopped(p.pid) && p.tool.Alive() == nil {
		time.Sleep(100 * time.Microsecond)
	}
	if err := p.count(); err != nil {
		return err
	}
	p.m.Enter(p.slot, p.Clients)
	return p.signal(unix.SIGCONT)
}

func (p *pgbenchRun) signal(s unix.Signal) error {
	if err := unix.Kill(p.pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %v to pgbench: %w", s, err)
	}
	return nil
}

// stopped says whether every thread of a process stands still.
func stopped(pid int) bool {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return false
		}
		// "pid (name) state ...": the name may hold anything but a newline.
		if _, after, _ := strings.Cut(string(b), ") "); !strings.HasPrefix(after, "T") {
			return false
		}
	}
	return len(files) > 0
}

// ended says whether pgbench has ended as it was asked to at its start.
func (p *pgbenchRun) ended() bool {
	select {
	case <-p.tool.Done():
		return true
	default:
		return false
	}
}

// alive says what broke, and why; the server first.
func (p *pgbenchRun) alive() error {
	if err := p.server.alive(); err != nil {
		return err
	}
	if line := p.watch.line(); line != "" {
		return p.server.because(fmt.Errorf("pgbench lost a client: %s", line))
	}
	if p.tool == nil || !p.ended() || p.tool.OK() && p.Seconds > 0 {
		return nil
	}
	return p.server.because(p.tool.Ended())
}

// end ends pgbench, by the signal with which its time is up so that it prints
// what it did, and then the server.
func (p *pgbenchRun) end(broken bool) error {
	var errs []error
	if p.tool != nil {
		if !broken && !p.ended() {
			errs = append(errs, p.signal(unix.SIGCONT), p.signal(unix.SIGALRM), p.countDown())
		}
		p.tool.Kill()
		if broken && p.m.InFlight() > 0 {
			p.slot.HeardError() // nobody will finish what is in flight
		}
		p.slot.Idle()
	}
	errs = append(errs, serve.CloseAll(p.pipes), p.server.stop())
	return errors.Join(errs...)
}

// countDown counts the last transactions.
func (p *pgbenchRun) countDown() error {
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(pgPoll) {
		if p.ended() {
			break
		}
		if err := p.count(); err != nil { // or it might wait for room in a pipe
			return err
		}
	}
	return p.count()
}

// pgbenchExec are the parameters of the process that becomes pgbench.
type pgbenchExec struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	// Prefix is that of the logs of so many Threads, which become names of the
	// pipes that are inherited as First and so on.
	Prefix  string `json:"prefix,omitempty"`
	Threads int    `json:"threads,omitempty"`
	First   int    `json:"first,omitempty"`
}

// becomePgbench names the pipes as pgbench is going to name its logs, by its
// pid, and becomes pgbench.
func becomePgbench(_ context.Context, params []byte) error {
	var p pgbenchExec
	if err := decode(params, &p); err != nil {
		return err
	}
	for i := range p.Threads {
		name := p.Prefix + "." + strconv.Itoa(os.Getpid())
		if i > 0 {
			name += "." + strconv.Itoa(i)
		}
		if err := os.Symlink(inherited(p.First+i), name); err != nil {
			return fmt.Errorf("name a log: %w", err)
		}
	}
	return fmt.Errorf("execute %s: %w", p.Path, syscall.Exec(p.Path, append([]string{p.Path}, p.Args...), os.Environ()))
}
