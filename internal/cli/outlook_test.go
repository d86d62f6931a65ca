package cli

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// timed is a plan of the ladder with a budget, divided among the loads, and a precision.
func timed(budget, precision float64) *plan.Plan {
	p := ladder()
	p.Record.Budget, p.Record.Precision = budget, precision
	for i := range p.Loads {
		p.Loads[i].Budget = budget / 2
	}
	return p
}

func noisy(sd float64) doctor.Noise {
	return doctor.Noise{
		Word: doctor.Shared, Because: record.Say("host_foreign", "share", 0.12),
		Foreign: record.Number(0.12), Steal: record.Number(0),
		Neighbours: record.Number(sd),
	}
}

// Before a run the user reads the noise, the precision that the time reached in earlier runs, and remedies. Where nothing is
// known there is no width at all: two seconds of arithmetic know no load.
func TestOutlook(t *testing.T) {
	noWidth := known(timed(180, 0.01), 1)
	noWidth.Loads[1].Known.Widest = 0
	for what, c := range map[string]struct {
		p    *plan.Plan
		n    doctor.Noise
		want []string
		not  string
	}{
		"noisy": {known(timed(180, 0.01), 1), noisy(0.1), []string{
			"noise of this host now: shared: other processes use 12 % of the CPU time\n3 min reach ±0.5 to 8 %; ±1 % takes hours (by earlier runs here)",
			"\nless noise: end or pause the other processes, which use 12 %"}, "no estimate"},
		"reached":   {known(timed(3600, 0.05), 1), noisy(0.02), []string{"1 h reach ±0.0625 to 2 %"}, "takes"},
		"hopeless":  {known(timed(180, 1e-7), 1), noisy(0.1), []string{"takes more than 30 days"}, "no estimate"},
		"unknown":   {timed(180, 0.01), noisy(0.1), []string{"no estimate of the precision: it is unknown before a first run here with verdicts"}, "±"},
		"no width":  {noWidth, noisy(0.1), []string{"no estimate of the precision: it is unknown before a first run here with verdicts"}, "±"},
		"too short": {known(timed(20, 0.01), 8), noisy(0.1), []string{"no estimate of the precision: the budget is too short for verdicts"}, "±"},
		"too few":   {known(timed(3600, 0.05), 1), doctor.Noise{Word: doctor.Quiet, Neighbours: record.Missing(record.InProse("too few slices to tell"))}, []string{"1 h reach ±"}, "less noise"},
	} {
		text := outlookOf(c.p, c.n, messages.Catalog{}).line(messages.Catalog{})
		wantText(t, what, text, c.want...)
		if strings.Contains(text, c.not) {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// A short run and arms on another host have no outlook. A signal ends the look.
func TestLookAhead(t *testing.T) {
	away := timed(180, 0.01)
	away.PodNode = "b"
	for what, p := range map[string]*plan.Plan{"short": timed(29, 0.01), "away": away} {
		if o, err := lookAhead(context.Background(), p, messages.Catalog{}); o != nil || err != nil {
			t.Errorf("%s: %+v, %v", what, o, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(&signalError{syscall.SIGINT, errors.New("interrupted")})
	o, err := lookAhead(ctx, timed(180, 0.01), messages.Catalog{})
	var by *signalError
	if o != nil || !errors.As(err, &by) {
		t.Errorf("%+v, %v", o, err)
	}
}
