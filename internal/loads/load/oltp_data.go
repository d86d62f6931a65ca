package load

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // registers the engine with database/sql

	"github.com/tarelab/tare/internal/wire/hidden"
)

// OLTPSchema is the version of the data set: it grows when the same parameters give other data.
const OLTPSchema = 1

// dataFile is the name of the finished data set, partFile its name while it is built.
const (
	dataFile = "sbtest.db"
	partFile = "sbtest.db.part"
)

// fillStream is the random stream of the data set; the threads have streams 0, 1, ...
const fillStream = 1 << 32

// The table is sysbench's. The index is created before the rows, so that its pages are as full as
// after random writes: the pages of an index built afterwards are packed, and would split during
// the first minutes, which slows the load down.
const schema = `
CREATE TABLE sbtest (id INTEGER PRIMARY KEY, k INTEGER NOT NULL DEFAULT 0,
	c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '');
CREATE INDEX k_1 ON sbtest (k);
CREATE TABLE tare (version INTEGER NOT NULL, rows INTEGER NOT NULL, seed TEXT NOT NULL);`

// prepareOLTP builds the data set in p.Dir unless it is there: one synced file without a journal,
// so that a copy of the directory is a copy of the data. The same parameters give the same bytes.
func prepareOLTP(ctx context.Context, params []byte) error {
	var p OLTP
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	if err := p.verify(ctx); err == nil {
		return nil
	} else if !errors.Is(err, errNoData) {
		return err
	}
	part := filepath.Join(p.Dir, partFile)
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.Remove(part + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prepare the data set: %w", err)
		}
	}
	if err := p.build(ctx, part); err != nil {
		return fmt.Errorf("prepare the data set: %w", err)
	}
	return nil
}

func (p OLTP) build(ctx context.Context, part string) error {
	db, err := sql.Open("sqlite", dsn(part, "rwc", "journal_mode(OFF)", "synchronous(OFF)", "cache_size(-65536)"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := p.fill(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	// The mode is stored in the file.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	return settle(part, filepath.Join(p.Dir, dataFile))
}

func (p OLTP) fill(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, insertSQL)
	if err != nil {
		return err
	}
	defer insert.Close()
	rng := rand.New(rand.NewPCG(p.Seed, fillStream))
	var room [textBytes]byte
	for id := 1; id <= p.Rows; id++ {
		k, c := 1+rng.IntN(p.Rows), string(digits(rng, room[:], cGroups))
		if _, err := insert.ExecContext(ctx, id, k, c, string(digits(rng, room[:], padGroups))); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO tare VALUES (?, ?, ?)", OLTPSchema, p.Rows, fmt.Sprint(p.Seed))
	return err
}

// settle syncs a finished file, gives it its name and syncs the directory.
func settle(part, name string) error {
	for _, path := range []string{part, filepath.Dir(part)} {
		if path != part {
			if err := os.Rename(part, name); err != nil {
				return err
			}
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = errors.Join(f.Sync(), f.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// errNoData means that the directory has no data set.
var errNoData = errors.New("no data set")

// verify checks that p.Dir has the data set of these parameters.
func (p OLTP) verify(ctx context.Context) error {
	path := filepath.Join(p.Dir, dataFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is not there; it is made before the load starts, so the directory is the wrong one", errNoData, path)
	} else if err != nil {
		return fmt.Errorf("open the data set: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(path, "rw"))
	if err != nil {
		return err
	}
	defer db.Close()
	var version, declared, rows int
	var seed string
	err = db.QueryRowContext(ctx, "SELECT version, rows, seed, (SELECT COUNT(*) FROM sbtest) FROM tare").
		Scan(&version, &declared, &seed, &rows)
	if err != nil {
		return fmt.Errorf("%s is not a data set of tare, or is damaged: %w", path, err)
	}
	if rows != p.Rows || declared != p.Rows || version != OLTPSchema || seed != fmt.Sprint(p.Seed) {
		return fmt.Errorf("%s has %d rows of the %d of data set version %d with seed %s; want %d rows, version %d, seed %d",
			path, rows, declared, version, seed, p.Rows, OLTPSchema, p.Seed)
	}
	return nil
}

// dsn is the URI of a database file, with pragmas for each connection.
func dsn(path, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: path, OmitHost: true, RawQuery: q.Encode()}).String()
}
