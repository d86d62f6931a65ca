package sysbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// Kind runs sysbench and counts its events.
const Kind = "sysbench"

// Params are the parameters of sysbench.
type Params struct {
	load.Database
	tool.Data
	// Program is sysbench's path; empty: it is looked up in PATH.
	Program  string `json:"program,omitempty"`
	RandType string `json:"rand_type,omitempty"`
	// Rate is arrivals per second in an open loop; 0 is a closed loop.
	Rate float64 `json:"rate,omitempty"`
	// Seconds is the time after which sysbench ends; 0: it runs until it is killed.
	Seconds int `json:"seconds,omitempty"`
	// NoHook runs one sysbench for each window and reads its report. Otherwise a hook in the script
	// counts each event, so windows can have any length.
	NoHook bool `json:"no_hook,omitempty"`
}

// Descriptors that sysbench inherits.
const (
	sbCounters = 3 + iota
	sbHook
	sbConfig
	sbSchedule
	sbScript
)

// bench is a running sysbench with its server.
type bench struct {
	Params
	m       *counter.Memory
	server  *load.Attached
	path    string // of sysbench
	script  load.Script
	process *serve.Process
}

// Bodies are the loads of this folder, by kind.
func Bodies() map[string]load.Body {
	return map[string]load.Body{Kind: load.Counted(run)}
}

func run(ctx context.Context, m *counter.Memory, params []byte) error {
	b := &bench{m: m}
	if err := hidden.Decode(params, &b.Params); err != nil {
		return err
	}
	err := load.EndError(ctx, b.run(ctx))
	return errors.Join(err, b.end(ctx.Err() == nil))
}

func (b *bench) run(ctx context.Context) (err error) {
	var version tool.Version
	if b.path, version, err = serve.FindSysbench(ctx, b.Program); err != nil {
		return err
	}
	if err := b.readScript(); err != nil {
		return err
	}
	if b.server, err = b.Attach(ctx, mysql.Family); err != nil {
		return err
	}
	if err := b.server.Become(b.path); err != nil {
		return err
	}
	settings, err := b.server.Ready(ctx)
	if err != nil {
		return err
	}
	settings = append(settings, record.Setting{Name: "sysbench", Got: version.Text}, record.Setting{Name: "sysbench counted", Got: b.how()})
	if err := readback.Write(load.FactsFd, settings); err != nil {
		return err
	}
	if b.NoHook {
		return b.runs(ctx)
	}
	return b.events(ctx)
}

// readScript reads the user's script. From a file of SQL it makes one.
func (b *bench) readScript() (err error) {
	if b.script = load.Builtin(b.Script); tool.IsBundled(b.Script) {
		return nil
	}
	if b.script, err = load.ReadScript(b.Script); err != nil || !isSQL(b.Script) {
		return err
	}
	steps, err := sqlfile.Script(b.script.Text())
	if err != nil {
		return sqlfile.At(b.Script, err)
	}
	var all []tool.Step
	for _, s := range steps {
		all = append(all, tool.Step{SQL: s.Text, At: fmt.Sprintf("%s:%d", b.Script, s.Line), Name: s.Name, Low: s.Low, High: s.High, Jump: s.Jumps(), Op: s.Op, To: s.To})
	}
	b.script = load.Generated(tool.StatementsScript(all))
	return nil
}

// sharesTables says whether the script has sysbench's options for tables.
func (b *bench) sharesTables() bool {
	return !isSQL(b.Script) && tool.SharesTables(b.Script, b.script.Text())
}

// events runs one sysbench until it ends or ctx does. The hook in its script counts events and
// waits at the gate.
func (b *bench) events(ctx context.Context) (err error) {
	if b.process, err = b.start(b.Seconds, os.Stderr); err != nil {
		return err
	}
	if err := b.warm(ctx); err != nil {
		return err
	}
	b.m.SetReady()
	return b.wait(ctx)
}

// how is a text on how operations are counted.
func (b *bench) how() string {
	if b.NoHook {
		return "by what it prints, one process for each window"
	}
	return "each event, by a hook in its script"
}

// start starts sysbench. It inherits the password and the hook as memfds: other users can read
// arguments, and files could stay behind.
func (b *bench) start(seconds int, log io.Writer) (*serve.Process, error) {
	name, copied, err := b.script.Open(sbScript)
	if err != nil {
		return nil, err
	}
	files, err := b.files(name)
	if copied != nil {
		files = append(files, copied)
	}
	defer func() {
		for _, f := range files[min(1, len(files)):] { // the first is the counters, which stay open
			f.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	run := tool.Command{Data: b.Data, Threads: b.m.Threads(), RandType: b.RandType, Seconds: seconds}
	script := load.Inherited(sbHook)
	if b.NoHook {
		script, run.Rate, run.Histogram = name, int(b.Rate), true
	}
	cmd := exec.Command(b.path, run.Args(script, load.Inherited(sbConfig), b.sharesTables())...)
	cmd.ExtraFiles = files
	if cmd.Dir = "/"; b.server.Dial == "" {
		cmd.Dir = b.Server.Dir // the path of the socket is relative
	}
	return serve.Start(cmd, "sysbench", log)
}

// files are the inherited files, in the order of their descriptors.
func (b *bench) files(script string) ([]*os.File, error) {
	files := []*os.File{b.m.File()}
	var text []byte
	if !b.NoHook {
		text = tool.Hook{
			Script: script, Counters: sbCounters, Layout: b.m.Layout(), Rate: b.Rate,
			Schedule: sbSchedule, Origin: b.m.Now(),
		}.Text()
	}
	database, err := b.database()
	if err != nil {
		return files, err
	}
	for _, m := range []struct {
		name    string
		content []byte
	}{{"hook", text}, {"options", database.Config()}, {"schedule", make([]byte, tool.ScheduleBytes)}} {
		f, err := memfd.Create("tare-sysbench-"+m.name, m.content)
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

// database is the address of the server for sysbench's options.
func (b *bench) database() (tool.Server, error) {
	at := b.server.Address()
	s := tool.Server{Driver: "mysql", User: at.User, Database: at.Database, Secret: at.Secret}
	if at.Dial == "" {
		s.Socket = db.SocketFile
		return s, nil
	}
	var err error
	s.Host, s.Port, err = db.SplitAddress(at.Dial)
	return s, err
}

// warm waits until enough events were counted for the load to be ready.
func (b *bench) warm(ctx context.Context) error {
	var since time.Time
	for want := uint64(b.m.Threads() * load.WarmEvents); ; time.Sleep(5 * time.Millisecond) {
		n := b.m.Ops()
		if n > 0 && since.IsZero() {
			since = time.Now()
		}
		if n >= want || n > 0 && time.Since(since) > load.WarmFor {
			return nil
		}
		if err := errors.Join(ctx.Err(), b.alive()); err != nil {
			return err
		}
	}
}

// alive is the error that ended the server or sysbench; the server's comes first.
func (b *bench) alive() error {
	if err := b.server.Alive(); err != nil {
		return err
	}
	select {
	case <-b.process.Done():
		if b.process.OK() && b.Seconds > 0 {
			return nil
		}
		return b.broken()
	default:
		return nil
	}
}

// broken is why sysbench ended: often because the server did.
func (b *bench) broken() error { return b.server.Cause(b.process.Ended()) }

// wait returns when sysbench or the server has ended, or ctx has.
func (b *bench) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-b.server.Done():
		return b.server.Process.Ended()
	case <-b.process.Done():
		return b.alive()
	}
}

var errUnfinished = errors.New("the event was not finished")

// end kills sysbench and shuts the server down. With broken, which is false after SIGTERM, events in
// flight count as errors.
func (b *bench) end(broken bool) error {
	if b.process != nil {
		b.process.Kill()
		for i := range b.m.Threads() {
			s := b.m.Slot(i)
			if broken && s.InFlight() {
				b.m.End(s, 0, errUnfinished)
			}
			s.Idle()
		}
	}
	return b.server.Stop()
}
