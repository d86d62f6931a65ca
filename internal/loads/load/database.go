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

// Database is the server under a load.
type Database struct {
	// Service is its name or serve.Auto, and Server says how it was started, or
	// is to be. Server.Dir is the data set's directory as this process sees it.
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

// Attached is a server that a load works with.
type Attached struct {
	Database
	protocol string
	Recipe   db.Recipe
	Process  *serve.Process // nil: not ours
	secret   string
}

// Attach starts the server where it is ours, and finds out how it is asked.
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

// Address is where the server answers the load's user.
func (a *Attached) Address() db.Address {
	return db.Address{
		Protocol: a.protocol, Dir: a.Server.Dir, Dial: a.Dial,
		User: db.User, Secret: a.secret, Database: db.Database,
	}
}

// Ready waits until the server answers, reads its settings back and its data
// into its memory.
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

// Alive says how a server that is ours has ended; nil: it has not, or who
// knows.
func (a *Attached) Alive() error {
	if a.Process == nil {
		return nil
	}
	return a.Process.Alive()
}

// endSeen is how long the end of a server may take to be seen: what it started can hold
// its pipe for a second (serve.Start), and the host can be busy.
const endSeen = 3 * time.Second

// Because is why something that needs the server failed: often the server ended,
// and is about to be seen to.
func (a *Attached) Because(err error) error {
	if done := a.Done(); done != nil {
		select {
		case <-done:
			return a.Process.Ended()
		case <-time.After(endSeen):
		}
	}
	return err
}

// Done is closed when a server that is ours has ended; nil: there is none.
func (a *Attached) Done() <-chan struct{} {
	if a == nil || a.Process == nil {
		return nil
	}
	return a.Process.Done()
}

// Stop ends a server that is ours, in order.
func (a *Attached) Stop() error {
	if a == nil || a.Process == nil || a.Alive() != nil {
		return nil
	}
	return a.Process.Stop(a.Recipe.Stop)
}

// Broken is why a load with a server ended; nil where it was told to: what breaks from
// there on is not the server's doing. What the user can do is in the message, for the
// counters hold nothing else.
func Broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if remedy := hint.Of(err); remedy != "" {
		return fmt.Errorf("%w (%s)", err, remedy)
	}
	return err
}
