package run

import (
	"errors"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/wire"
)

func TestLateWindows(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name                    string
		length, took, suspended time.Duration
		asked, late             bool
	}{
		{"as planned", 20 * ms, 20 * ms, 0, false, false},
		{"a short one, late by 250 ms", 20 * ms, 270 * ms, 0, false, false},
		{"a short one, late by more", 20 * ms, 271 * ms, 0, false, true},
		{"twice as long", time.Second, 2 * time.Second, 0, false, false},
		{"more than twice as long", time.Second, 2001 * ms, 0, false, true},
		{"suspended for less than its length", time.Second, time.Second, 900 * ms, false, false},
		{"suspended for more", time.Second, time.Second, 1001 * ms, false, true},
		{"both together", time.Second, 1600 * ms, 500 * ms, false, true},
		{"a command that takes as long as it takes", 500 * ms, 9 * time.Second, 0, true, false},
		{"a command while the machine was suspended", 500 * ms, 9 * time.Second, 501 * ms, true, true},
	} {
		w := wire.WindowSpec{Length: c.length, Asked: c.asked}
		err := late(w, wire.Sample{Seconds: c.took.Seconds()}, c.suspended)
		if (err != nil) != c.late || err != nil && !errors.Is(err, errLong) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// While tare was silent the window is measured again. On a host on which windows are always late,
// the third one counts.
func TestRepeatWhileSilent(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct {
		errs  []error
		want  error
		tries int
	}{
		{[]error{nil}, nil, 1},
		{[]error{launch.ErrSilent, launch.ErrSilent, launch.ErrSilent, launch.ErrSilent, nil}, nil, 5},
		{[]error{errLong, nil}, nil, 2},
		{[]error{errLong, errLong, errLong}, nil, 3},
		{[]error{launch.ErrSilent, other}, other, 2},
	} {
		tries := 0
		_, err := repeatWhileSilent(func() error { tries++; return c.errs[tries-1] })
		if !errors.Is(err, c.want) || tries != c.tries {
			t.Errorf("%v: %v after %d tries", c.errs, err, tries)
		}
	}
}
