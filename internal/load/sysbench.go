package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/facts"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/internal/sysbench"
	"github.com/tarelab/tare/record"
)

// KindSysbench runs sysbench, counted by a hook in its script.
const KindSysbench = "sysbench"

// Sysbench are the parameters of sysbench.
type Sysbench struct {
	sysbench.Data
	// Program is sysbench's path; empty: in PATH.
	Program  string `json:"program,omitempty"`
	RandType string `json:"rand_type,omitempty"`
	// Rate is the arrivals per second of an open loop; 0 is a closed loop.
	Rate float64 `json:"rate,omitempty"`
	// Seconds until sysbench ends by itself, whole; 0: when it is told to.
	Seconds int `json:"seconds,omitempty"`

	// Service is a service's name or serve.Auto, and Server says how the server
	// was started, or is to be. Server.Dir is the data set's directory as this
	// process sees it.
	Service string       `json:"service"`
	Server  serve.Server `json:"server"`
	// Inside says that this process starts the server, which then dies with it.
	// Otherwise one is there already, at Dial (host:port).
	Inside bool   `json:"inside,omitempty"`
	Dial   string `json:"dial,omitempty"`
	// TCP says that a server inside is reached by TCP over loopback and not by
	// its socket.
	TCP bool `json:"tcp,omitempty"`
}

const (
	// serverLimit is how long a server may take to answer.
	serverLimit = time.Minute
	// warmLimit bounds reading the data set once: one that is much larger than
	// the server's memory need not be read as a whole.
	warmLimit = 10 * time.Second
	// warmEvents of each thread come before the load is ready, or as many as it
	// does in warmFor.
	warmEvents = 50
	warmFor    = 3 * time.Second
)

// factsFd is the descriptor at which a load may inherit the file for facts.
const factsFd = 4

// Descriptors that sysbench inherits.
const (
	sbCounters = 3 + iota
	sbHook
	sbConfig
	sbSchedule
)

// bench is a running sysbench with its server.
type bench struct {
	Sysbench
	m      *counter.Memory
	recipe service.Recipe
	server *serve.Process // nil: not ours
	tool   *serve.Process
}

func runSysbench(ctx context.Context, m *counter.Memory, params []byte) error {
	b := &bench{m: m}
	if err := decode(params, &b.Sysbench); err != nil {
		return err
	}
	err := b.run(ctx)
	if ctx.Err() != nil {
		err = nil // what breaks from here on is not the server's doing
	}
	if remedy := hint.Of(err); remedy != "" {
		err = fmt.Errorf("%w (%s)", err, remedy)
	}
	return errors.Join(err, b.end(ctx.Err() == nil))
}

func (b *bench) run(ctx context.Context) error {
	path, version, err := serve.FindSysbench(ctx, b.Program)
	if err != nil {
		return err
	}
	if err := b.startServer(ctx); err != nil {
		return err
	}
	settings, err := b.ready(ctx)
	if err != nil {
		return err
	}
	settings = append(settings, record.Setting{Name: "sysbench", Got: version.Text}, record.Setting{Name: "transport", Got: b.transport()})
	if err := facts.Write(factsFd, settings); err != nil {
		return err
	}
	if err := b.startTool(path); err != nil {
		return err
	}
	if err := b.warm(ctx); err != nil {
		return err
	}
	b.m.SetReady()
	return b.wait(ctx)
}

func (b *bench) transport() string {
	if b.Dial != "" {
		return "tcp"
	}
	return "socket"
}

// startServer starts the server where it is ours, and finds out how it is
// asked.
func (b *bench) startServer(ctx context.Context) (err error) {
	if !b.Inside {
		b.recipe, err = b.Server.Recipe(ctx, b.Service)
		return err
	}
	if b.TCP && b.Server.Listen == "" {
		if b.Server.Listen, err = freeLoopback(); err != nil {
			return err
		}
	}
	b.Dial = b.Server.Listen
	b.server, b.recipe, err = b.Server.Start(ctx, b.Service, os.Stderr)
	return err
}

// freeLoopback is an address at which nobody listens now.
func freeLoopback() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// ready waits until the server answers, reads its settings back and its data
// into its memory.
func (b *bench) ready(ctx context.Context) ([]record.Setting, error) {
	secret, err := serve.Secret(b.Server.Dir)
	if err != nil {
		return nil, err
	}
	c, err := serve.Connect(serve.Address{
		Dir: b.Server.Dir, Dial: b.Dial, User: service.User, Secret: secret, Database: service.Database,
	})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Await(ctx, serverLimit, b.serverAlive); err != nil {
		return nil, err
	}
	settings, err := c.ReadBack(ctx, b.recipe.ReadBack)
	if err != nil {
		return nil, err
	}
	reading, stop := context.WithTimeout(ctx, warmLimit)
	defer stop()
	if err := c.ExecEach(reading, b.recipe.Warm); err != nil && reading.Err() == nil {
		return nil, fmt.Errorf("read the data set: %w", err)
	}
	return settings, nil
}

func (b *bench) serverAlive() error {
	if b.server == nil {
		return nil
	}
	return b.server.Alive()
}

// startTool starts sysbench. The password and the script are in memory that
// it inherits: neither is in its arguments nor in any directory.
func (b *bench) startTool(path string) error {
	files, err := b.files()
	defer func() {
		for _, f := range files[min(1, len(files)):] { // the first is the counters'
			f.Close()
		}
	}()
	if err != nil {
		return err
	}
	var text []byte
	if !sysbench.IsBundled(b.Script) {
		if text, err = os.ReadFile(b.Script); err != nil {
			return fmt.Errorf("read the script: %w", err)
		}
	}
	run := sysbench.Run{Data: b.Data, Threads: b.m.Threads(), RandType: b.RandType, Seconds: b.Seconds}
	cmd := exec.Command(path, run.Args(inherited(sbHook), inherited(sbConfig), sysbench.SharesTables(b.Script, text))...)
	cmd.ExtraFiles = files
	cmd.Dir = b.Server.Dir // where the socket is
	b.tool, err = serve.Start(cmd, "sysbench", os.Stderr)
	return err
}

// files are what sysbench inherits, in the order of the descriptors.
func (b *bench) files() ([]*os.File, error) {
	files := []*os.File{b.m.File()}
	hook := sysbench.Hook{
		Script: b.Script, Counters: sbCounters, Layout: b.m.Layout(), Rate: b.Rate, Schedule: sbSchedule, Origin: b.m.Now(),
	}
	database, err := b.database()
	if err != nil {
		return files, err
	}
	for _, m := range []struct {
		name    string
		content []byte
	}{{"hook", hook.Text()}, {"options", database.Config()}, {"schedule", make([]byte, sysbench.ScheduleBytes)}} {
		f, err := serve.Memory("sysbench-"+m.name, m.content)
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

// database is the server as sysbench is told.
func (b *bench) database() (sysbench.Server, error) {
	secret, err := serve.Secret(b.Server.Dir)
	if err != nil {
		return sysbench.Server{}, err
	}
	s := sysbench.Server{Driver: "mysql", User: service.User, Database: service.Database, Secret: secret}
	if b.Dial == "" {
		s.Socket = service.SocketFile
		return s, nil
	}
	host, port, err := net.SplitHostPort(b.Dial)
	if err != nil {
		return s, fmt.Errorf("address of the server: %w", err)
	}
	s.Host = host
	s.Port, err = strconv.Atoi(port)
	return s, err
}

func inherited(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// warm waits for the first events.
func (b *bench) warm(ctx context.Context) error {
	var since time.Time
	for want := uint64(b.m.Threads() * warmEvents); ; time.Sleep(5 * time.Millisecond) {
		n := b.m.Ops()
		if n > 0 && since.IsZero() {
			since = time.Now()
		}
		if n >= want || n > 0 && time.Since(since) > warmFor {
			return nil
		}
		if err := errors.Join(ctx.Err(), b.alive()); err != nil {
			return err
		}
	}
}

// alive says which of the two ended, and why; of the server if both did.
func (b *bench) alive() error {
	if err := b.serverAlive(); err != nil {
		return err
	}
	select {
	case <-b.tool.Done():
		if b.tool.OK() && b.Seconds > 0 {
			return nil
		}
		return b.broken()
	default:
		return nil
	}
}

// broken is why sysbench ended: often the server did, and is about to be seen
// to.
func (b *bench) broken() error {
	if b.server != nil {
		select {
		case <-b.server.Done():
			return b.server.Ended()
		case <-time.After(time.Second):
		}
	}
	return b.tool.Ended()
}

// wait lets sysbench work until it has ended or is told to.
func (b *bench) wait(ctx context.Context) error {
	var serverDone <-chan struct{}
	if b.server != nil {
		serverDone = b.server.Done()
	}
	select {
	case <-ctx.Done():
		return nil
	case <-serverDone:
		return b.server.Ended()
	case <-b.tool.Done():
		return b.alive()
	}
}

var errUnfinished = errors.New("the event was not finished")

// end ends sysbench and then the server, in order. Events that nobody will
// finish are errors, unless they were told to end.
func (b *bench) end(broken bool) error {
	if b.tool != nil {
		b.tool.Kill()
		for i := range b.m.Threads() {
			s := b.m.Slot(i)
			if broken && s.InFlight() {
				b.m.End(s, 0, errUnfinished)
			}
			s.Idle()
		}
	}
	if b.server == nil || b.serverAlive() != nil {
		return nil
	}
	return b.server.Stop(b.recipe.Stop)
}
