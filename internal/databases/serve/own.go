package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/allow"
	"github.com/tarelab/tare/internal/databases/db"
)

// Own returns the values that the server program has by itself, by the server's names; nil: it cannot be asked.
func (f Found) Own(ctx context.Context) (map[string]string, error) {
	own := f.Service.Describe().Own
	if own.Calls == nil {
		return nil, nil
	}
	r, err := f.call(ctx, own, nil, nil, false)
	if err == nil && len(r.complaints) > 0 {
		err = errors.New(r.complaints[0])
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s for its own values: %w", f.Programs[db.Server], err)
	}
	if own.Read != nil {
		return own.Read(r.outputs), nil
	}
	return r.values, nil
}

// Complaints asks the server program whether it takes settings of tare's and options, and returns what it says against
// them.
func (f Found) Complaints(ctx context.Context, settings map[string]string, options []string) ([]string, error) {
	d := f.Service.Describe()
	if d.Own.Calls == nil {
		return nil, nil
	}
	all, err := db.Complete(d, settings)
	if err != nil {
		return nil, err
	}
	r, err := f.call(ctx, d.Own, all, options, true)
	if err != nil {
		return nil, fmt.Errorf("ask %s whether it takes the options: %w", f.Programs[db.Server], err)
	}
	return r.complaints, nil
}

// replies are what the calls of a program printed.
type replies struct {
	outputs    []string // on standard output
	complaints []string
	values     map[string]string // of a server that was asked
}

// call calls the program as own says.
func (f Found) call(ctx context.Context, own db.Own, settings db.Settings, options []string, with bool) (r replies, err error) {
	files := append([]db.File{{Path: db.RunDir + "/empty"}, {Path: db.DataDir + "/empty"}}, own.Files...)
	s, err := newScene(f.Programs[db.Server], "", files)
	if err != nil {
		return r, err
	}
	defer s.end()
	c := db.Config{Programs: f.Programs, Dir: s.dir, Settings: settings, Options: options}
	calls, err := own.Calls(f.Version, c, with)
	if err != nil {
		return r, err
	}
	ctx, stop := context.WithTimeout(ctx, trialBound)
	defer stop()
	for _, args := range calls {
		if own.Read == nil {
			if err := f.askServer(ctx, s, args, &r); err != nil {
				return r, err
			}
			continue
		}
		var out, errs bytes.Buffer
		cmd := s.command(ctx, args)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		r.outputs = append(r.outputs, out.String())
		r.complaints = append(r.complaints, own.Complaints(f.Version, c, out.String(), errs.String())...)
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || len(r.complaints) == 0) {
			return r, fmt.Errorf("%w: %s", err, db.FirstLine(errs.String()))
		}
	}
	return r, nil
}

// askServer starts a server on its socket, asks it for its variables and ends it. The complaints of a server that ends
// by itself are no error.
func (f Found) askServer(ctx context.Context, s *scene, args []string, r *replies) error {
	var log strings.Builder
	cmd := s.command(ctx, args)
	cmd.Env = []string{"LC_ALL=C"}
	p, err := Start(cmd, "the server", &log)
	if err != nil {
		return err
	}
	defer p.Kill()
	d := f.Service.Describe()
	conn, err := f.Service.Protocol().Connect(db.Address{Protocol: d.Protocol, Dir: s.dir, User: "default"})
	if err != nil {
		return err
	}
	defer conn.Close()
	for p.Alive() == nil && ctx.Err() == nil {
		given, err := d.Conf.Variables(func(question string) ([][]string, error) { return conn.Ask(ctx, question) })
		if err != nil {
			time.Sleep(5 * time.Millisecond) // it does not listen yet
			continue
		}
		r.values = map[string]string{}
		for _, g := range given {
			r.values[allow.Canonical(g.Name)] = g.Value
		}
		return nil
	}
	p.Kill()
	r.complaints = append(r.complaints, d.Own.Complaints(f.Version, db.Config{}, "", log.String())...)
	if len(r.complaints) == 0 {
		return errors.Join(ctx.Err(), p.Ended())
	}
	return nil
}
