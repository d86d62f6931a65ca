// Package reserve says how much of a host a run must leave free: bytes and inodes of each file
// system that it writes to, and process ids. It changes nothing. Its callers know where a run
// writes, and what to do when too little is free.
package reserve

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// ErrShort means that too little is free on this host.
var ErrShort = errors.New("too little room on this host")

// A twentieth of each file system of the host that a run writes to stays free, within these
// bounds.
const (
	twentieth   = 20
	leastBytes  = 1 << 30
	mostBytes   = 10 << 30
	leastInodes = 1_000
	mostInodes  = 100_000
)

// Amount is how much of one resource is free.
type Amount struct {
	record.Room
	Free   int64
	Going  int64 // what will be used soon
	Remedy string
}

// Short says that less is free, now or soon, than must stay free.
func (a Amount) Short() bool { return a.Free-a.Going < a.Bound }

// Err is the error for a run if the amount is Short, else nil.
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

// OfDir are the free bytes and inodes of the file system with a directory, which need not exist
// yet. There is no amount of inodes where the file system makes them on demand.
func OfDir(dir, remedy string) ([]Amount, error) { return ask(dir, remedy, false) }

// Err is the error of the first amount that is Short.
func Err(all ...Amount) error {
	for _, a := range all {
		if err := a.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ask is OfDir. own says that tare made the file system for the run, with room for the planned
// data and more: a twentieth of it must stay free then, however little that is.
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

// Beyond is how many bytes a run may write to the file system with a directory.
func Beyond(dir string) (int64, error) {
	all, err := OfDir(dir, "")
	if err != nil {
		return 0, err
	}
	return max(0, all[0].Free-all[0].Bound), nil
}
