package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/sqlfile"
)

// dumpFiller fills the server with a logical dump. No client of the server takes part: tare sends each
// statement itself, as the load's user, who has no rights outside of the load's database.
type dumpFiller struct {
	path    string
	dialect sqlfile.Dialect
	longest int           // bytes of a statement
	limit   time.Duration // of a statement
	facts   sqlfile.Facts
}

// longestStatement is the usual bound for the time of a statement.
const longestStatement = 30 * time.Minute

func (p Prepare) dumpFiller(f Found) (filler, error) {
	d := dumpFiller{path: p.Dump, longest: int(cmp.Or(p.StatementSize, sqlfile.Longest)), limit: cmp.Or(p.StatementTime, longestStatement)}
	switch protocol := f.Service.Describe().Protocol; protocol {
	case autoProtocol:
		d.dialect = sqlfile.MySQL
	case postgres.Name:
		d.dialect = sqlfile.Postgres
	default:
		return nil, fmt.Errorf("no dump fills %s", f.Name())
	}
	var err error
	d.facts, err = sqlfile.Check(p.Dump, d.dialect, d.longest)
	return d, err
}

func (d dumpFiller) params() map[string]string {
	return map[string]string{"load": "dump", "sha256": d.facts.SHA256}
}

func (dumpFiller) tool() (name, version string) { return "", "" }

// size is an estimate from above: rows with their indexes take up to three times the space of their text.
func (d dumpFiller) size() int64 { return 3 * d.facts.Bytes }

func (dumpFiller) connections() int { return 1 }

var errDumpChanged = errors.New("the file changed while it was read")

func (d dumpFiller) fill(ctx context.Context, b *building) error {
	a := b.address()
	a.Given = true
	c, err := Connect(a)
	if err != nil {
		return err
	}
	defer c.Close()
	in, err := sqlfile.Open(d.path)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	r := sqlfile.NewReader(io.TeeReader(in, sum), d.dialect, d.longest)
	at := startLoading(filepath.Base(d.path), b.Into)
	defer at.stop()
	err = sqlfile.Each(r, func(s sqlfile.Statement) error {
		at.begin(s.Line)
		defer func() { at.begin(r.Line()) }() // from now on the next one is read
		return c.restore(ctx, r, s, d.limit, at)
	})
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != d.facts.SHA256 {
		err = errDumpChanged
	}
	if err != nil {
		return d.ofAnother(b.found, sqlfile.At(d.path, err))
	}
	return nil
}

// restore runs one statement of a dump, with its rows. The statement may take some time, from its last row on.
func (c *Client) restore(ctx context.Context, r *sqlfile.Reader, s sqlfile.Statement, limit time.Duration, at *loading) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timer := time.AfterFunc(limit, func() { stop(errTooSlow(limit)) })
	defer timer.Stop()
	line, err := c.send(ctx, r, s, func(line int) {
		timer.Reset(limit)
		at.begin(line)
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &sqlfile.Error{Line: line, Err: err}
}

func errTooSlow(limit time.Duration) error {
	return hint.New(fmt.Errorf("the statement takes more than %s (statement_time)", quantity.Duration(limit.Seconds())),
		"--set statement_time=2h, or remove the statement from the dump")
}

// send sends one statement with its rows, and calls row for the line of each. It returns the line of an error.
func (c *Client) send(ctx context.Context, r *sqlfile.Reader, s sqlfile.Statement, row func(line int)) (line int, err error) {
	if !s.Rows {
		return s.Line, c.Exec(ctx, s.Text)
	}
	copier, ok := c.conn.(db.Copier)
	if !ok {
		return s.Line, errors.New("this server takes no rows")
	}
	first := r.Line()
	err = copier.Copy(ctx, s.Text, func() (string, bool, error) {
		row(r.Line())
		return r.Row()
	})
	var at *db.RowError
	if errors.As(err, &at) {
		return first + at.Row - 1, err
	}
	return s.Line, err
}
