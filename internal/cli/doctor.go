package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os/signal"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/doctor"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/inspect"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/record"
)

type doctorCommand struct {
	Scratch string     `default:"${scratch}" placeholder:"DIR" help:"The directory under test, ${scratch} unless you say otherwise."`
	Format  planFormat `group:"output" default:"text" placeholder:"text|json" help:"Form of the answer on standard output."`
}

func (doctorCommand) Help() string {
	return `Tries out what the arms of a run are made of, watches the noise of this host for two seconds, and looks for what killed runs left. Every no comes with its reason and what to do about it; ? means that it cannot be told. Nothing is changed.

Examples:

  tare doctor
  tare doctor --scratch /mnt/disk
  tare doctor --format json | jq '.checks[] | select(.answer == "no")'`
}

// noiseTime is how long the doctor watches the noise.
const noiseTime = 2 * time.Second

func (d *doctorCommand) Run(c *console) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	host := inspect.HostAt("/", d.Scratch)
	r, err := doctor.Examine(ctx, doctor.Patient{Root: "/", Scratch: d.Scratch, Host: host}, noiseTime)
	if ctx.Err() != nil {
		return &signalError{syscall.SIGINT, errors.New("interrupted")}
	}
	a := d.answer(r, host)
	if d.Format == "json" {
		enc := json.NewEncoder(c.stdout)
		enc.SetIndent("", "  ")
		return errors.Join(err, enc.Encode(a))
	}
	p := newSheet(c)
	p.host(a.Host)
	p.checks(a.Checks)
	p.arms(a.Arms)
	if err == nil {
		p.noise(a.Noise)
	}
	p.leftovers(a)
	_, werr := c.stdout.WriteString(p.String())
	return errors.Join(err, werr)
}

// doctorAnswer is all that doctor prints.
type doctorAnswer struct {
	Schema    string         `json:"schema"`
	Host      record.Host    `json:"host"`
	Checks    []checkAnswer  `json:"checks"`
	Arms      []checkAnswer  `json:"arms"`
	Noise     doctor.Noise   `json:"noise"`
	Leftovers []leftoverRuns `json:"leftovers"`
	// Unread is why leftovers cannot be told.
	Unread string `json:"leftovers_unknown,omitempty"`
}

// checkAnswer is a question with its answer: yes, no or unknown.
type checkAnswer struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Answer string `json:"answer"`
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

type leftoverRuns struct {
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	Live    bool      `json:"live"`
	Pid     int       `json:"pid"`
	Steps   []string  `json:"steps"`
}

func (d *doctorCommand) answer(r doctor.Report, host environment.Host) doctorAnswer {
	a := doctorAnswer{Schema: "tare/doctor/v1", Host: r.Host, Noise: r.Noise, Leftovers: []leftoverRuns{}}
	for _, check := range r.Checks {
		a.Checks = append(a.Checks, answerOf(check.Name, check.Title, check.Support))
	}
	for _, rung := range catalog.Rungs() {
		a.Arms = append(a.Arms, answerOf(rung.Name(), rung.Title(), rung.Support(host)))
	}
	left, err := journal.Leftovers(journal.StateDir())
	if err != nil {
		a.Unread = err.Error()
	}
	for _, l := range left {
		x := leftoverRuns{Run: l.Header.Run, Started: l.Header.Time, Live: l.Live, Pid: l.Header.Pid}
		for _, s := range l.Steps {
			x.Steps = append(x.Steps, step(s))
		}
		a.Leftovers = append(a.Leftovers, x)
	}
	return a
}

func answerOf(name, title string, s environment.Support) checkAnswer {
	words := map[environment.Answer]string{environment.Yes: "yes", environment.No: "no", environment.Unknown: "unknown"}
	return checkAnswer{name, title, words[s.Answer], s.Reason, s.Remedy}
}
