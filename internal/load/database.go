package load

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/db"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/serve"
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

// attached is a server that a load works with.
type attached struct {
	Database
	protocol string
	recipe   db.Recipe
	process  *serve.Process // nil: not ours
}

// attach starts the server where it is ours, and finds out how it is asked.
func (d Database) attach(ctx context.Context, protocol string) (*attached, error) {
	a := &attached{Database: d, protocol: protocol}
	var err error
	if !d.Inside {
		a.recipe, err = d.Server.Recipe(ctx, d.Service)
		return a, err
	}
	if d.TCP && a.Server.Listen == "" {
		if a.Server.Listen, err = serve.FreeLoopback(); err != nil {
			return a, err
		}
	}
	a.Dial = a.Server.Listen
	a.process, a.recipe, err = a.Server.Start(ctx, d.Service, os.Stderr)
	return a, err
}

// address is where the server answers the load's user.
func (a *attached) address() (db.Address, error) {
	secret, err := serve.Secret(a.Server.Dir)
	return db.Address{
		Protocol: a.protocol, Dir: a.Server.Dir, Dial: a.Dial,
		User: db.User, Secret: secret, Database: db.Database,
	}, err
}

// ready waits until the server answers, reads its settings back and its data
// into its memory.
func (a *attached) ready(ctx context.Context) ([]record.Setting, error) {
	at, err := a.address()
	if err != nil {
		return nil, err
	}
	c, err := serve.Connect(at)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Await(ctx, serverLimit, a.alive); err != nil {
		return nil, err
	}
	settings, err := c.ReadBack(ctx, a.recipe.ReadBack)
	if err != nil {
		return nil, err
	}
	if a.recipe.Warm == "" {
		return append(settings, a.transport()), nil
	}
	reading, stop := context.WithTimeout(ctx, warmLimit)
	defer stop()
	if err := c.ExecEach(reading, a.recipe.Warm); err != nil && reading.Err() == nil {
		return nil, fmt.Errorf("read the data set: %w", err)
	}
	return append(settings, a.transport()), nil
}

func (a *attached) transport() record.Setting {
	if a.Dial != "" {
		return record.Setting{Name: "transport", Got: "tcp"}
	}
	return record.Setting{Name: "transport", Got: "socket"}
}

// alive says how a server that is ours has ended; nil: it has not, or who
// knows.
func (a *attached) alive() error {
	if a.process == nil {
		return nil
	}
	return a.process.Alive()
}

// because is why something that needs the server failed: often the server ended,
// and is about to be seen to.
func (a *attached) because(err error) error {
	if done := a.done(); done != nil {
		select {
		case <-done:
			return a.process.Ended()
		case <-time.After(time.Second):
		}
	}
	return err
}

// done is closed when a server that is ours has ended; nil: there is none.
func (a *attached) done() <-chan struct{} {
	if a == nil || a.process == nil {
		return nil
	}
	return a.process.Done()
}

// stop ends a server that is ours, in order.
func (a *attached) stop() error {
	if a == nil || a.process == nil || a.alive() != nil {
		return nil
	}
	return a.process.Stop(a.recipe.Stop)
}

// remedied puts what the user can do into the message: the counters hold
// nothing else.
func remedied(err error) error {
	if remedy := hint.Of(err); remedy != "" {
		return fmt.Errorf("%w (%s)", err, remedy)
	}
	return err
}
