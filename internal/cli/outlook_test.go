package cli

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/loads/workload"
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
		Word: doctor.Shared, Because: "other processes use 12 % of the CPU time",
		Foreign: record.Number(0.12), Steal: record.Number(0),
		Neighbours: record.Number(sd),
	}
}

// Before a run the user reads the noise, the precision that the time reaches, and remedies.
func TestOutlook(t *testing.T) {
	for what, c := range map[string]struct {
		p    *plan.Plan
		n    doctor.Noise
		want []string
		not  string
	}{
		"noisy": {timed(180, 0.01), noisy(0.1), []string{
			"noise of this host now: shared: other processes use 12 % of the CPU time\n3 min reach ±",
			" %; ±1 % takes ", "(a rough estimate", "\nless noise: end or pause the other processes, which use 12 %"}, "no estimate"},
		"reached":   {timed(3600, 0.05), noisy(0.02), []string{"1 h reach ±"}, "takes"},
		"hopeless":  {timed(180, 1e-7), noisy(0.1), []string{"takes more than 30 days"}, "no estimate"},
		"too few":   {timed(180, 0.01), doctor.Noise{Word: doctor.Quiet, Neighbours: record.Missing("too few slices to tell")}, []string{"no estimate of the precision: too few slices to tell"}, "less noise"},
		"too short": {timed(4, 0.01), noisy(0.1), []string{"4 s reach no interval"}, "reach ±"},
	} {
		text := outlookOf(c.p, c.n).line()
		wantText(t, what, text, c.want...)
		if strings.Contains(text, c.not) {
			t.Errorf("%s: %s", what, text)
		}
	}
	tools := timed(180, 0.01)
	for i := range tools.Loads {
		tools.Loads[i].Stages.Windowed = &workload.Windowed{}
	}
	wantText(t, "tools", outlookOf(tools, noisy(0.1)).line(), "no estimate of the precision: the tools run anew")
}

// A short run and arms on another host have no outlook. A signal ends the look.
func TestLookAhead(t *testing.T) {
	away := timed(180, 0.01)
	away.PodNode = "b"
	for what, p := range map[string]*plan.Plan{"short": timed(29, 0.01), "away": away} {
		if o, err := lookAhead(context.Background(), p); o != nil || err != nil {
			t.Errorf("%s: %+v, %v", what, o, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(&signalError{syscall.SIGINT, errors.New("interrupted")})
	o, err := lookAhead(ctx, timed(180, 0.01))
	var by *signalError
	if o != nil || !errors.As(err, &by) {
		t.Errorf("%+v, %v", o, err)
	}
}
