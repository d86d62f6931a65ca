package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"github.com/tarelab/tare/internal/databases/db"
)

// conn is a connection that can load the rows of a dump.
type conn struct{ db.SQLConn }

var _ db.Copier = conn{}

// copier is what lib/pq makes of a statement COPY ... FROM stdin.
type copier interface {
	driver.Stmt
	CopyData(ctx context.Context, line string) (driver.Result, error)
}

// Copy runs COPY ... FROM stdin with the rows that next returns, in a transaction, which lib/pq demands.
func (c conn) Copy(ctx context.Context, statement string, next func() (row string, ok bool, err error)) error {
	one, err := c.Conn(ctx)
	if err != nil {
		return err
	}
	defer one.Close()
	return one.Raw(func(raw any) error {
		link, ok := raw.(interface {
			driver.Conn
			driver.ConnBeginTx
		})
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", raw)
		}
		tx, err := link.BeginTx(ctx, driver.TxOptions{})
		if err != nil {
			return err
		}
		if err := copyRows(ctx, link, statement, next); err != nil {
			return errors.Join(rowError(err), tx.Rollback())
		}
		return tx.Commit()
	})
}

// copyBytes is about how many bytes of rows are sent at once.
const copyBytes = 32 << 10

func copyRows(ctx context.Context, link driver.Conn, statement string, next func() (row string, ok bool, err error)) error {
	prepared, err := link.Prepare(statement)
	if err != nil {
		return err
	}
	rows, ok := prepared.(copier)
	if !ok {
		return errors.Join(errors.New("the driver takes no rows for this statement"), prepared.Close())
	}
	var some strings.Builder
	send := func() error {
		// The context would cost a goroutine for each call; it is looked at below.
		_, err := rows.CopyData(context.Background(), strings.TrimSuffix(some.String(), "\n"))
		some.Reset()
		return err
	}
	for {
		row, more, err := next()
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		if more {
			some.WriteString(row + "\n")
		}
		if some.Len() > 0 && (!more || some.Len() > copyBytes) {
			if err = errors.Join(ctx.Err(), send()); err != nil {
				return errors.Join(err, rows.Close())
			}
		}
		if !more {
			_, err := rows.Exec(nil) // ends the rows and returns the server's error
			return err
		}
	}
}

// rowPattern finds the number of the row in where an error was: COPY t, line 3, column id: "x".
var rowPattern = regexp.MustCompile(`^COPY .*, line (\d+)`)

// rowError makes a RowError of the server's error about a row.
func rowError(err error) error {
	var answer *pq.Error
	if !errors.As(err, &answer) || answer.Where == "" {
		return err
	}
	full := fmt.Errorf("%w (%s)", err, answer.Where)
	if m := rowPattern.FindStringSubmatch(answer.Where); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		return &db.RowError{Row: n, Err: full}
	}
	return full
}
