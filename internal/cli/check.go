package cli

import (
	"fmt"

	"github.com/tarelab/tare/internal/analysis/gate"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

type checkCommand struct {
	Dir      string      `arg:"" help:"A result directory, as tare run -o made it."`
	MaxCost  []maxCost   `group:"limits" name:"max-cost" placeholder:"METRIC=SIZE" help:"Largest cost that passes, as throughput=5%; once per metric. Throughput must not be lower by more, latencies and CPU time per operation not higher. Default: the limits of the run."`
	Workload []string    `group:"limits" aliases:"workloads" placeholder:"NAME" help:"Only these workloads."`
	Arm      []string    `group:"limits" aliases:"arms,variants,variant" placeholder:"NAME" help:"Only these arms; a skipped one is an error."`
	Format   checkFormat `group:"output" default:"text" placeholder:"text|junit|markdown|json" help:"Output format."`
}

func (checkCommand) Help() string {
	return `Judges the bounds of the intervals, not the estimates: a cost passes when its whole interval is within the limit, and exceeds it when the whole interval is above. Where the loss comes in bursts, the total effect is judged as well. A skipped arm passes, unless --arm names it: then it is an error.

Examples:

  tare check r
  tare check r --max-cost throughput=5% --max-cost 'p99<=10%' --arm container
  tare check r --max-cost throughput=5% --format junit > tare.xml`
}

func (checkCommand) exits() []codeMeaning {
	return exitCodes("every cost is within its limit", exitError, exitUsage, exitExceeded, exitUndecided, exitInvalid)
}

func (k checkCommand) Run(c *console) error {
	k.Dir = resultOf(k.Dir)
	if err := ofOneNode(k.Dir); err != nil {
		return err
	}
	result, effects, err := analyse(k.Dir)
	if err != nil {
		return err
	}
	limits, called := result.Plan.Limits, map[string]string{}
	if len(k.MaxCost) > 0 {
		limits = nil
	}
	for _, l := range k.MaxCost {
		limits = append(limits, l.Limit)
		called[l.Metric] = l.called
	}
	g, err := judge(k.Dir, effects, limits, gate.Selection{Workloads: k.Workload, Arms: k.Arm, Called: called})
	if err != nil {
		return err
	}
	if err := c.printGate(k.Format, g); err != nil {
		return fmt.Errorf("print the check: %w", err)
	}
	return c.gateError(g, k.Format != "text")
}

func (c *console) printGate(f checkFormat, g *record.Gate) error {
	switch f {
	case "junit":
		return report.JUnit(c.stdout, g)
	case "markdown":
		return report.PrintMarkdown(c.stdout, c.reports().Gate(g))
	case "json":
		return export.Object(c.stdout, g)
	}
	return report.Print(c.stdout, c.reports().Gate(g), c.look(report.Options{}))
}

// gateError is the error with the exit code of an answer other than pass. Its text is empty
// unless say: in the text form the answer is printed already.
func (c *console) gateError(g *record.Gate, say bool) error {
	text := ""
	if say {
		text = c.reports().GateSummary(g)
	}
	switch g.Answer {
	case record.AnswerPass:
		return nil
	case record.AnswerExceeded:
		return &answerError{exitExceeded, text}
	case record.AnswerInvalid:
		return &answerError{exitInvalid, text}
	}
	return &answerError{exitUndecided, text}
}

// checkFormat is the value of --format of tare check.
type checkFormat string

func (f *checkFormat) UnmarshalText(b []byte) error {
	return oneOf((*string)(f), string(b), f.words()...)
}

func (checkFormat) words() []string { return []string{"text", "junit", "markdown", "json"} }
