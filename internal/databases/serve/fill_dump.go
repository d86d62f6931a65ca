package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/sqlfile"
)

// dumpFiller fills the server with a logical dump. No client of the server takes part: tare sends each
// statement itself, as the load's user, who has no rights outside of the load's database.
type dumpFiller struct {
	path    string
	dialect sqlfile.Dialect
	facts   sqlfile.Facts
}

func (p Prepare) dumpFiller(f Found) (filler, error) {
	d := dumpFiller{path: p.Dump}
	switch protocol := f.Service.Describe().Protocol; protocol {
	case autoProtocol:
		d.dialect = sqlfile.MySQL
	case postgres.Name:
		d.dialect = sqlfile.Postgres
	default:
		return nil, fmt.Errorf("no dump fills %s", f.Name())
	}
	var err error
	d.facts, err = sqlfile.Check(p.Dump, d.dialect)
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
	c, err := Connect(b.address())
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
	r := sqlfile.NewReader(io.TeeReader(in, sum), d.dialect)
	err = sqlfile.Each(r, func(s sqlfile.Statement) error { return c.restore(ctx, r, s) })
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != d.facts.SHA256 {
		err = errDumpChanged
	}
	if err != nil {
		return sqlfile.At(d.path, err)
	}
	return nil
}

// restore runs one statement of a dump, with its rows.
func (c *Client) restore(ctx context.Context, r *sqlfile.Reader, s sqlfile.Statement) error {
	if !s.Rows {
		if err := c.Exec(ctx, s.Text); err != nil {
			return &sqlfile.Error{Line: s.Line, Err: err}
		}
		return nil
	}
	copier, ok := c.conn.(db.Copier)
	if !ok {
		return &sqlfile.Error{Line: s.Line, Err: errors.New("this server takes no rows")}
	}
	first := r.Line()
	err := copier.Copy(ctx, s.Text, r.Row)
	var row *db.RowError
	switch {
	case errors.As(err, &row):
		return &sqlfile.Error{Line: first + row.Row - 1, Err: err}
	case err != nil:
		return &sqlfile.Error{Line: s.Line, Err: err}
	}
	return nil
}
