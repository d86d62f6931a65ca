package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/measure/advise"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// bench is this host with the flags of an advice; see advise.Bench.
type bench struct {
	*adviseCommand
	*console
}

func (b bench) Inspect(e *experiment.Experiment) (facts.Host, error) {
	host, err := inspectHost(e, b.Volume, b.cluster(), "")
	if err == nil && host.PodNode != "" {
		err = &usageError{errors.New("the arms are on another node, where tare cannot try a remedy"), "run tare on the node"}
	}
	return host, err
}

func (b bench) Plan(e *experiment.Experiment, host facts.Host) (*plan.Plan, error) {
	return b.plan(e, host)
}

func (b bench) Note(key messages.Key, pairs ...any) { b.note(key, pairs...) }

func (b bench) Stage(load string, kind record.StageKind, arms []string) {
	if !b.quiet() {
		b.note("advise.step", "load", load, "stage", b.text(stages[kind]), "arms", arms)
	}
}

// Measure runs a stage and analyses its result.
func (b bench) Measure(dir string, p *plan.Plan, host facts.Host, further bool) (m advise.Measured, err error) {
	c := run.Config{Plan: p, Dir: dir, Groups: host.Groups}
	if further {
		if c.Earlier, err = run.Reopen(dir); err != nil {
			return m, err
		}
		p.ShareAs(c.Earlier.Result.Plan)
	} else {
		if err := b.ready(p, dir, host.Groups, longer); err != nil {
			return m, err
		}
		p.Record.Command = b.command()
	}
	began := time.Now()
	show := b.progress(p, b.progressFlags)
	show.start(p, dir)
	b.cluster().Told(func(m messages.Message) { show.say(b.in.Say(m)) })
	c.Warnings, c.Progress, c.Manifest = b.cluster().Warnings, show.event, manifest(host, began)
	out, err := measure(c, show, b.in)
	m.Begun, m.Took = out.Reason != "", time.Since(began)
	if err = notRestored(b.console, out, err); err != nil {
		return m, err
	}
	if !finished(out) {
		return m, fmt.Errorf("stage %s ended early: %s", filepath.Base(dir), out.Reason)
	}
	if m.Result, m.Effects, err = analyse(dir); err == nil {
		err = b.writeEffects(m.Result, m.Effects)
	}
	return m, err
}
