package load

import "fmt"

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

// session is one connection with its prepared statements, used by one thread.
type session struct {
	engine *engine
	rows   int
	write  bool
	// writer is locked during a whole writing transaction: SQLite has one writer at a time, and
	// its own way of waiting is to sleep and try again.
	writer *writer
	rng    *Sequence
	id     pick
	text   [textBytes]byte
	c      [cGroups * (groupDigits + 1)]byte

	begin, commit, rollback, checkpoint *statement
	point, simple, sum, order, distinct *statement
	index, nonIndex, remove, insert     *statement
}

func (s *session) open(path string, pragmas []string) (err error) {
	if s.engine, err = openEngine(path); err != nil {
		return err
	}
	for _, p := range pragmas {
		if _, err := s.engine.ask("PRAGMA " + p); err != nil {
			return err
		}
	}
	begin := "BEGIN"
	if s.write {
		begin = "BEGIN IMMEDIATE" // takes the write lock at once: upgrading a read lock can fail later
	}
	for _, st := range []struct {
		into **statement
		text string
	}{
		{&s.begin, begin}, {&s.commit, "COMMIT"}, {&s.rollback, "ROLLBACK"}, {&s.checkpoint, "PRAGMA wal_checkpoint(PASSIVE)"},
		{&s.point, pointSQL}, {&s.sum, sumSQL},
		{&s.simple, simpleSQL}, {&s.order, orderSQL}, {&s.distinct, distinctSQL},
		{&s.index, indexSQL}, {&s.nonIndex, nonIndexSQL}, {&s.remove, deleteSQL}, {&s.insert, insertSQL},
	} {
		if *st.into, err = s.engine.prepare(st.text); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) close() error { return s.engine.close() }

// transaction does one transaction, after a checkpoint if one is due.
func (s *session) transaction() error {
	if s.write {
		s.writer.lock()
		defer s.writer.unlock()
		if s.writer.due(s.rng) {
			if _, err := s.checkpoint.run(); err != nil {
				return fmt.Errorf("checkpoint: %w", err)
			}
		}
	}
	if _, err := s.begin.run(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err := s.reads()
	if err == nil && s.write {
		err = s.writes()
	}
	if err != nil {
		s.rollback.run()
		return err
	}
	if _, err := s.commit.run(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (s *session) reads() error {
	for range pointSelects {
		if err := s.point.number(1, s.id(s.rows)); err != nil {
			return err
		}
		if err := s.fetch(s.point, 1, 1); err != nil {
			return fmt.Errorf("point select: %w", err)
		}
	}
	if err := s.span(s.simple, rangeRows, rangeRows); err != nil {
		return fmt.Errorf("range select: %w", err)
	}
	if err := s.span(s.sum, 1, 1); err != nil {
		return fmt.Errorf("sum: %w", err)
	}
	if err := s.span(s.order, rangeRows, rangeRows); err != nil {
		return fmt.Errorf("ordered range: %w", err)
	}
	// Rows with the same text are possible, though rare.
	if err := s.span(s.distinct, 1, rangeRows); err != nil {
		return fmt.Errorf("distinct range: %w", err)
	}
	return nil
}

// span reads a range that lies wholly in the table. sysbench's ranges may reach beyond its end,
// which makes operations unequal.
func (s *session) span(st *statement, least, most int) error {
	low := s.id(s.rows - rangeRows + 1)
	if err := st.number(1, low); err != nil {
		return err
	}
	if err := st.number(2, low+rangeRows-1); err != nil {
		return err
	}
	return s.fetch(st, least, most)
}

func (s *session) writes() error {
	if err := s.update(s.index, s.id(s.rows)); err != nil {
		return fmt.Errorf("index update: %w", err)
	}
	if err := s.nonIndex.textual(1, 0, digits(s.rng.Rand, s.c[:], cGroups)); err != nil {
		return err
	}
	if err := s.nonIndex.number(2, s.id(s.rows)); err != nil {
		return err
	}
	if err := one(s.nonIndex.run()); err != nil {
		return fmt.Errorf("non-index update: %w", err)
	}
	id := s.id(s.rows)
	if err := s.update(s.remove, id); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if err := s.row(id); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

// update executes a statement with one argument that changes one row.
func (s *session) update(st *statement, id int) error {
	if err := st.number(1, id); err != nil {
		return err
	}
	return one(st.run())
}

// row inserts a row.
func (s *session) row(id int) error {
	if err := s.insert.number(1, id); err != nil {
		return err
	}
	if err := s.insert.number(2, s.id(s.rows)); err != nil {
		return err
	}
	if err := s.insert.textual(3, 0, digits(s.rng.Rand, s.c[:], cGroups)); err != nil {
		return err
	}
	if err := s.insert.textual(4, 1, digits(s.rng.Rand, s.c[:], padGroups)); err != nil {
		return err
	}
	return one(s.insert.run())
}

// fetch runs a query and reads all rows; their number must be from least to most.
func (s *session) fetch(st *statement, least, most int) error {
	n := 0
	for {
		row, err := st.step()
		if err != nil {
			return err
		}
		if !row {
			break
		}
		st.value(s.text[:])
		n++
	}
	if n < least || n > most {
		return fmt.Errorf("%d of %d rows: the data set has changed under the load", n, most)
	}
	return nil
}

func one(n int, err error) error {
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows changed instead of one: the data set has changed under the load", n)
	}
	return err
}
