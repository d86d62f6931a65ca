// Package reserve says how much of a host a run leaves free: bytes and inodes of each file
// system that it writes to, and process ids. It looks and changes nothing. Where a run writes,
// and what is done when little is left, its users know.
package reserve

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// ErrShort means that the host has too little room left.
var ErrShort = errors.New("too little room on this host")

// Of each file system of the host that a run writes to, a twentieth stays free, within these.
const (
	twentieth   = 20
	leastBytes  = 1 << 30
	mostBytes   = 10 << 30
	leastInodes = 1_000
	mostInodes  = 100_000
)

// Amount is how much of one thing is free.
type Amount struct {
	record.Room
	Free   int64
	Going  int64 // is about to be used, too
	Remedy string
}

// Short says that less is free than has to stay free, or is going to be.
func (a Amount) Short() bool { return a.Free-a.Going < a.Bound }

// Err is why no run may begin or go on; nil where enough is free.
func (a Amount) Err() error {
	if !a.Short() {
		return nil
	}
	return hint.New(&short{a}, a.Remedy)
}

// short is the error of an amount.
type short struct{ Amount }

func (s *short) Error() string {
	free := s.count(s.Free) + " free"
	if s.Free >= s.Bound {
		free += ", " + s.count(s.Going) + " of it about to be used"
	}
	return fmt.Sprintf("%v: %s has %s, and a run leaves %s free", ErrShort, s.Of, free, s.count(s.Bound))
}

func (s *short) Is(target error) bool {
	return target == ErrShort || target == unix.ENOSPC && s.Kind != record.RoomPids
}

func (s *short) count(n int64) string {
	switch {
	case s.Kind != record.RoomBytes:
		return fmt.Sprintf("%d %s", n, s.Kind)
	case n < 10<<30:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// OfDir is the bytes and inodes of the file system of a directory of the host, which need not
// be there yet. A file system that says no number of inodes makes them as it needs them.
func OfDir(dir, remedy string) ([]Amount, error) { return ask(dir, remedy, false) }

// Err is the first of them of which too little is free.
func Err(all ...Amount) error {
	for _, a := range all {
		if err := a.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ask: own says that tare made the file system for the run, with room for what is planned and
// some more: a twentieth of that stays free, however little that is.
func ask(dir, remedy string, own bool) ([]Amount, error) {
	st, err := storage.Room(dir)
	if err != nil {
		return nil, err
	}
	amount := func(kind string, free, all, least, most int64) Amount {
		bound := min(max(all/twentieth, least), most)
		if own {
			bound = all / twentieth
		}
		return Amount{Room: record.Room{Of: dir, Kind: kind, Lowest: free, Bound: bound}, Free: free, Remedy: remedy}
	}
	amounts := []Amount{amount(record.RoomBytes, st.Free, st.Size, leastBytes, mostBytes)}
	if st.Inodes > 0 {
		amounts = append(amounts, amount(record.RoomInodes, st.FreeInodes, st.Inodes, leastInodes, mostInodes))
	}
	return amounts, nil
}

// Beyond is how many bytes a run may write to the file system of a directory.
func Beyond(dir string) (int64, error) {
	all, err := OfDir(dir, "")
	if err != nil {
		return 0, err
	}
	return max(0, all[0].Free-all[0].Bound), nil
}
