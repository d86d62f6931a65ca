package load

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
)

// Sysbench's OLTP transaction (src/lua/oltp_common.lua), with its defaults.
const (
	pointSelects = 10
	rangeRows    = 100

	pointSQL    = "SELECT c FROM sbtest WHERE id=?"
	simpleSQL   = "SELECT c FROM sbtest WHERE id BETWEEN ? AND ?"
	sumSQL      = "SELECT SUM(k) FROM sbtest WHERE id BETWEEN ? AND ?"
	orderSQL    = "SELECT c FROM sbtest WHERE id BETWEEN ? AND ? ORDER BY c"
	distinctSQL = "SELECT DISTINCT c FROM sbtest WHERE id BETWEEN ? AND ? ORDER BY c"
	indexSQL    = "UPDATE sbtest SET k=k+1 WHERE id=?"
	nonIndexSQL = "UPDATE sbtest SET c=? WHERE id=?"
	deleteSQL   = "DELETE FROM sbtest WHERE id=?"
	insertSQL   = "INSERT INTO sbtest (id, k, c, pad) VALUES (?, ?, ?, ?)"
)

// background has no end: a statement under a context that can end costs a
// goroutine each.
var background = context.Background()

// session is one connection with its prepared statements. One thread uses it.
type session struct {
	// db is a pool of this one connection: a pool that the threads share has a
	// lock that they would meet at every statement.
	db    *sql.DB
	conn  *sql.Conn
	rows  int
	write bool
	// writer is held over a whole writing transaction. SQLite has one writer
	// at a time, and its own way of waiting is to sleep and to try again.
	writer turn
	rng    *rand.Rand
	id     pick
	text   sql.RawBytes

	begin, commit, rollback             *sql.Stmt
	point, simple, sum, order, distinct *sql.Stmt
	index, nonIndex, remove, insert     *sql.Stmt
}

func (s *session) open(dsn string) (err error) {
	if s.db, err = sql.Open("sqlite", dsn); err != nil {
		return err
	}
	if s.conn, err = s.db.Conn(background); err != nil {
		return err
	}
	begin := "BEGIN"
	if s.write {
		begin = "BEGIN IMMEDIATE" // no lock to upgrade, so nothing to fail half-way
	}
	for _, st := range []struct {
		into **sql.Stmt
		text string
	}{
		{&s.begin, begin}, {&s.commit, "COMMIT"}, {&s.rollback, "ROLLBACK"},
		{&s.point, pointSQL}, {&s.sum, sumSQL},
		{&s.simple, simpleSQL}, {&s.order, orderSQL}, {&s.distinct, distinctSQL},
		{&s.index, indexSQL}, {&s.nonIndex, nonIndexSQL}, {&s.remove, deleteSQL}, {&s.insert, insertSQL},
	} {
		if *st.into, err = s.conn.PrepareContext(background, st.text); err != nil {
			return fmt.Errorf("prepare %q: %w", st.text, err)
		}
	}
	return nil
}

func (s *session) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// transaction is one operation.
func (s *session) transaction() error {
	if s.write {
		s.writer.take()
		defer s.writer.give()
	}
	if _, err := s.begin.Exec(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err := s.reads()
	if err == nil && s.write {
		err = s.writes()
	}
	if err != nil {
		s.rollback.Exec()
		return err
	}
	if _, err := s.commit.Exec(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (s *session) reads() error {
	for range pointSelects {
		if err := s.fetch(s.point, 1, 1, s.id(s.rows)); err != nil {
			return fmt.Errorf("point select: %w", err)
		}
	}
	if err := s.fetch(s.simple, rangeRows, rangeRows, s.span()...); err != nil {
		return fmt.Errorf("range select: %w", err)
	}
	if err := s.fetch(s.sum, 1, 1, s.span()...); err != nil {
		return fmt.Errorf("sum: %w", err)
	}
	if err := s.fetch(s.order, rangeRows, rangeRows, s.span()...); err != nil {
		return fmt.Errorf("ordered range: %w", err)
	}
	// Two rows may have the same text, though hardly ever.
	if err := s.fetch(s.distinct, 1, rangeRows, s.span()...); err != nil {
		return fmt.Errorf("distinct range: %w", err)
	}
	return nil
}

// span is the first and the last id of a range that lies in the table as a
// whole: sysbench lets ranges hang over the end, which only makes operations
// unequal.
func (s *session) span() []any {
	low := s.id(s.rows - rangeRows + 1)
	return []any{low, low + rangeRows - 1}
}

func (s *session) writes() error {
	if err := one(s.index.Exec(s.id(s.rows))); err != nil {
		return fmt.Errorf("index update: %w", err)
	}
	if err := one(s.nonIndex.Exec(digits(s.rng, cGroups), s.id(s.rows))); err != nil {
		return fmt.Errorf("non-index update: %w", err)
	}
	id := s.id(s.rows)
	if err := one(s.remove.Exec(id)); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if err := one(s.insert.Exec(id, s.id(s.rows), digits(s.rng, cGroups), digits(s.rng, padGroups))); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

// fetch runs a query and reads every row, which must be least to most in
// number.
func (s *session) fetch(st *sql.Stmt, least, most int, args ...any) error {
	rows, err := st.Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(&s.text); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n < least || n > most {
		return fmt.Errorf("%d of %d rows: the data set has changed under the load", n, most)
	}
	return nil
}

func one(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows changed instead of one: the data set has changed under the load", n)
	}
	return err
}
