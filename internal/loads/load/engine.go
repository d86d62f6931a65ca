package load

import (
	"errors"
	"fmt"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// engine is one connection to SQLite through SQLite's C interface, for one thread. database/sql
// allocates tens of kilobytes in a transaction, for each row and argument, and the garbage
// collection fell into some windows and not into others. An engine's operations allocate nothing.
type engine struct {
	tls  *libc.TLS
	db   uintptr
	open []*statement
}

// statement is a prepared statement.
type statement struct {
	e    *engine
	at   uintptr
	text [2]uintptr // buffers of textBytes for the text arguments
	sql  string
}

// textBytes is the length of the longest text argument.
const textBytes = 128

// openEngine opens an existing database file.
func openEngine(path string) (*engine, error) {
	e := &engine{tls: libc.NewTLS()}
	name, err := libc.CString(path)
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	defer libc.Xfree(e.tls, name)
	out := e.tls.Alloc(8)
	defer e.tls.Free(8)
	// NOMUTEX: one thread uses the connection.
	rc := sqlite3.Xsqlite3_open_v2(e.tls, name, out, sqlite3.SQLITE_OPEN_READWRITE|sqlite3.SQLITE_OPEN_NOMUTEX, 0)
	e.db = *(*uintptr)(memory(out))
	if err := e.check(rc); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), e.close())
	}
	return e, nil
}

// memory converts an address of memory that Go did not allocate and neither moves nor frees.
func memory(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

func (e *engine) check(rc int32) error {
	if rc == sqlite3.SQLITE_OK {
		return nil
	}
	return fmt.Errorf("sqlite: %s (%d)", libc.GoString(sqlite3.Xsqlite3_errmsg(e.tls, e.db)), rc)
}

// close finalizes the statements and closes the connection.
func (e *engine) close() error {
	for _, s := range e.open {
		sqlite3.Xsqlite3_finalize(e.tls, s.at)
		for _, t := range s.text {
			libc.Xfree(e.tls, t)
		}
	}
	var err error
	if e.db != 0 {
		err = e.check(sqlite3.Xsqlite3_close_v2(e.tls, e.db))
	}
	e.tls.Close()
	return err
}

// prepare compiles a statement; close finalizes it.
func (e *engine) prepare(sql string) (*statement, error) {
	text, err := libc.CString(sql)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(e.tls, text)
	out := e.tls.Alloc(8)
	defer e.tls.Free(8)
	if err := e.check(sqlite3.Xsqlite3_prepare_v2(e.tls, e.db, text, -1, out, 0)); err != nil {
		return nil, fmt.Errorf("prepare %q: %w", sql, err)
	}
	s := &statement{e: e, at: *(*uintptr)(memory(out)), sql: sql}
	e.open = append(e.open, s)
	for i := range s.text {
		if s.text[i] = libc.Xmalloc(e.tls, textBytes); s.text[i] == 0 {
			return nil, fmt.Errorf("prepare %q: no memory", sql)
		}
	}
	return s, nil
}

// ask executes a statement once and returns the first column of its first row as text, "" if it
// has no rows.
func (e *engine) ask(sql string) (string, error) {
	s, err := e.prepare(sql)
	if err != nil {
		return "", err
	}
	var b [textBytes]byte
	rows, n := 0, 0
	for {
		more, err := s.step()
		if err != nil || !more {
			return string(b[:n]), err
		}
		if rows++; rows == 1 {
			n = s.value(b[:])
		}
	}
}

// number binds an integer as argument i, counted from 1.
func (s *statement) number(i int, x int) error {
	return s.e.check(sqlite3.Xsqlite3_bind_int64(s.e.tls, s.at, int32(i), int64(x)))
}

// textual binds a text of up to textBytes as argument i, counted from 1. which is the buffer that
// holds it, 0 or 1.
func (s *statement) textual(i, which int, b []byte) error {
	at := s.text[which]
	n := copy(unsafe.Slice((*byte)(memory(at)), textBytes), b)
	return s.e.check(sqlite3.Xsqlite3_bind_text(s.e.tls, s.at, int32(i), at, int32(n), 0))
}

// step goes to the next row. After the last row it resets the statement for its next execution.
func (s *statement) step() (row bool, err error) {
	switch rc := sqlite3.Xsqlite3_step(s.e.tls, s.at); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, s.e.check(sqlite3.Xsqlite3_reset(s.e.tls, s.at))
	default:
		err := fmt.Errorf("%s: %w", s.sql, s.e.check(rc))
		sqlite3.Xsqlite3_reset(s.e.tls, s.at)
		return false, err
	}
}

// value copies the first column of the current row as text and returns its length.
func (s *statement) value(to []byte) int {
	p := sqlite3.Xsqlite3_column_text(s.e.tls, s.at, 0)
	n := int(sqlite3.Xsqlite3_column_bytes(s.e.tls, s.at, 0))
	if p == 0 || n == 0 {
		return 0
	}
	return copy(to, unsafe.Slice((*byte)(memory(p)), n))
}

// run executes a statement, ignores its rows and returns how many rows it changed.
func (s *statement) run() (changed int, err error) {
	row, err := s.step()
	for row && err == nil {
		row, err = s.step()
	}
	return int(sqlite3.Xsqlite3_changes(s.e.tls, s.e.db)), err
}
