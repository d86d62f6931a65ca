package load

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/record"
)

// Database is the database server that a load uses.
type Database struct {
	// Service is the server's name or serve.Auto. Server has its parameters; Server.Dir is the
	// data set's directory as this process sees it.
	Service string       `json:"service"`
	Server  serve.Server `json:"server"`
	// Inside is true if this process starts the server, which then dies with it. Otherwise the
	// server runs already, at Dial (host:port).
	Inside bool   `json:"inside,omitempty"`
	Dial   string `json:"dial,omitempty"`
	// Files is a directory in which this process may make files of its own: never that of the data set
	// in the cache, which others read.
	Files string `json:"files,omitempty"`
	// TCP is true if a server inside is reached over loopback instead of its socket.
	TCP bool `json:"tcp,omitempty"`
}

// Attached is a database server with which a load works.
type Attached struct {
	Database
	protocol string
	Recipe   db.Recipe
	Process  *serve.Process // nil if another process started the server
	secret   string
}

// Attach starts the server if it is inside, and reads recipe and password.
func (d Database) Attach(ctx context.Context, protocol string) (*Attached, error) {
	a := &Attached{Database: d, protocol: protocol}
	var err error
	if !d.Inside {
		if a.Recipe, err = d.Server.Recipe(ctx, d.Service); err == nil {
			a.secret, err = serve.Secret(d.Server.Dir)
		}
		return a, err
	}
	if d.TCP && a.Server.Listen == "" {
		if a.Server.Listen, err = serve.FreeLoopback(); err != nil {
			return a, err
		}
	}
	a.Dial = a.Server.Listen
	if a.Process, a.Recipe, err = a.Server.Start(ctx, d.Service, os.Stderr); err == nil {
		a.secret, err = serve.Secret(d.Server.Dir)
	}
	return a, err
}

// Address is the server's address with the load's user and password.
func (a *Attached) Address() db.Address {
	return db.Address{
		Protocol: a.protocol, Dir: a.Server.Dir, Dial: a.Dial,
		User: db.User, Secret: a.secret, Database: db.Database,
	}
}

// Ready waits until the server answers, reads its settings back, and has it read the whole data
// set into its cache.
func (a *Attached) Ready(ctx context.Context) ([]record.Setting, error) {
	c, err := serve.Connect(a.Address())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Await(ctx, ServerLimit, a.Alive); err != nil {
		return nil, err
	}
	settings, err := c.ReadBack(ctx, a.Recipe.ReadBack)
	if err != nil {
		return nil, err
	}
	if a.Recipe.Warm == "" {
		return append(settings, a.transport()), nil
	}
	reading, stop := context.WithTimeout(ctx, WarmLimit)
	defer stop()
	if err := c.ExecEach(reading, a.Recipe.Warm); err != nil && reading.Err() == nil {
		return nil, fmt.Errorf("read the data set: %w", err)
	}
	return append(settings, a.transport()), nil
}

func (a *Attached) transport() record.Setting {
	if a.Dial != "" {
		return record.Setting{Name: "transport", Got: "tcp"}
	}
	return record.Setting{Name: "transport", Got: "socket"}
}

// Alive is nil while the server runs, then the error with its exit status and last log lines. It
// is always nil for a server that another process started.
func (a *Attached) Alive() error {
	if a.Process == nil {
		return nil
	}
	return a.Process.Alive()
}

// endSeen is how long this process waits for the end of a server to be reported: a child of the
// server can hold its pipe open for 1 s (serve.Start), and the host can be busy.
const endSeen = 3 * time.Second

// Cause is the end of the server if it ends within endSeen, else err: a client often sees the
// broken connection before this process is told that the server ended.
func (a *Attached) Cause(err error) error {
	if done := a.Done(); done != nil {
		select {
		case <-done:
			return a.Process.Ended()
		case <-time.After(endSeen):
		}
	}
	return err
}

// Done is closed when the server that this process started has ended; nil if there is none.
func (a *Attached) Done() <-chan struct{} {
	if a == nil || a.Process == nil {
		return nil
	}
	return a.Process.Done()
}

// Stop shuts the server down if this process started it.
func (a *Attached) Stop() error {
	if a == nil || a.Process == nil || a.Alive() != nil {
		return nil
	}
	return a.Process.Stop(a.Recipe.Stop)
}

// EndError is the error with which a load ends; nil after SIGTERM, when connections break because
// tare closes them. It includes the hint in the message, because the counters hold a text alone.
func EndError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if remedy := hint.Of(err); remedy != "" {
		return fmt.Errorf("%w (%s)", err, remedy)
	}
	return err
}
