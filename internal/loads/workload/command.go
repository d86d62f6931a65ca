package workload

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Command describes the load that executes any command again and again.
type Command struct{}

func (Command) Name() string { return "command" }

func (Command) Title() record.Said { return record.Say("load_command") }

// valueName is the name of the metric of a number that a command prints.
const valueName = "value"

func (Command) Params() []Param {
	return []Param{
		{Name: "command", Default: "true", Text: true, Check: checkCommand,
			Help: "the program and its arguments, split as a shell splits words; it starts in the arm's data directory, as the user who runs tare: root's on the arm host has all rights on the host"},
		OnOff("shell", "off", "on: /bin/sh -c takes the command, with all that only a shell can do"),
		{Name: "files", Default: "none", Text: true, Check: checkWords,
			Help: "files and directories that are copied into the data directory of every arm, split like the command"},
		{Name: "env", Default: "none", Text: true, Check: checkVariables,
			Help: "names of variables that the command gets as tare has them, a password for example: the record has the names alone; without them the environment is small and the same in all arms"},
		{Name: "parallel", Default: "1", Check: Whole(1, 256),
			Help: "executions at the same time"},
		{Name: "codes", Default: "0", Check: checkCodes,
			Help: "exit codes that are no error, separated by commas"},
		{Name: "warmup", Default: "1", Check: Whole(0, 1000),
			Help: "executions before anything counts, after each launch"},
		{Name: "timeout", Default: "10m", Check: durationBetween(time.Millisecond, 24*time.Hour),
			Help: "an execution that takes longer is ended, and an error"},
		{Name: "value", Default: "none", Text: true, Check: checkExtract,
			Help: "a number in the output that is the metric: regexp:PATTERN (its first group, last match) or json:PATH such as json:jobs[0].read.iops"},
		{Name: "unit", Default: "1", Text: true, Check: AnyText,
			Help: "unit of that number: s, ms, us, B, KiB, MB, MiB/s, 1/s, %, or any word"},
		Choice("better", "higher", "which direction of that number is the better one", "higher", "lower"),
	}
}

func (c Command) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	threads, warmup := r.Whole("parallel"), r.Whole("warmup")
	timeout := r.duration("timeout")
	p := load.Executions{Warmup: warmup, Timeout: timeout.Seconds(), Codes: parseCodes(v["codes"])}
	r.fail("command", c.args(v, &p))
	env := r.variables("env")
	files := r.words("files")
	if r.Err != nil {
		return Stages{}, fmt.Errorf("command: %w", r.Err)
	}
	s := Stages{
		Threads: threads, Executes: p.Args[:1],
		Code:  []Code{{What: v["command"], Is: messages.Say("code.command")}},
		Named: append([]Named{namedProgram(v["command"], p.Args, v["shell"] == "on", files)}, namedCopies("files", files)...),
		Load: func(at wire.Place) Task {
			here := p
			here.Dir = at.Volume
			task := LoadTask(load.KindCommand, here)
			task.Env = env
			return task
		},
		Windowed: &Windowed{
			Least: 100 * time.Millisecond, Usual: 500 * time.Millisecond, Discard: 20 * time.Millisecond,
			Limit: timeout + 10*time.Second,
		},
		Metrics: []Metric{Throughput, P50, P95, cpuPerOp},
	}
	if len(files) > 0 {
		s.Key = "command-files"
		s.Prepare = func(dir string) Task {
			return LoadTask(load.KindCommandPrepare, load.CommandFiles{Files: files, Dir: dir})
		}
	}
	if p.Value != nil {
		m := Metric{Name: valueName, Better: +1, Help: v["value"]}
		m.Unit, _ = baseUnit(v["unit"])
		if v["better"] == "lower" {
			m.Better = -1
		}
		s.Values = []Metric{m}
		s.Metrics = append([]Metric{m}, s.Metrics...)
	}
	return s, nil
}

// args sets the command line in p, and how to find the value in the output.
func (Command) args(v Values, p *load.Executions) (err error) {
	if v["shell"] == "on" {
		p.Args = []string{"/bin/sh", "-c", v["command"]}
	} else if p.Args, err = splitWords(v["command"]); err != nil {
		return err
	}
	p.Value = extractOf(v["value"])
	if p.Value != nil {
		_, p.Value.Scale = baseUnit(v["unit"])
	}
	return nil
}

// checkCommand checks that a command is not empty. Whether it needs a shell depends on another
// parameter.
func checkCommand(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("there is no command")
	}
	return AnyText(s)
}

// AnyText allows any text of one line.
func AnyText(s string) error {
	if s == "" || strings.ContainsAny(s, "\x00\n\r") {
		return fmt.Errorf("%q is not a text on one line", s)
	}
	return nil
}

// None stands for an empty list of words or options.
const None = "none"

// checkWords checks a list of words, split as a shell splits words.
func checkWords(s string) error {
	if err := AnyText(s); err != nil {
		return err
	}
	words, err := splitWords(s)
	if err == nil && len(words) == 0 {
		err = fmt.Errorf("%q names nothing; want %s for nothing", s, None)
	}
	return err
}

// checkVariables checks a list of names of environment variables. It refuses values, which would be
// in the record.
func checkVariables(s string) error {
	if err := checkWords(s); err != nil || s == None {
		return err
	}
	words, _ := splitWords(s)
	for _, w := range words {
		if name, _, valued := strings.Cut(w, "="); valued {
			return fmt.Errorf("a value of %[1]s would be in the record, for everybody to read: name it alone, and tare takes the value that itself has; "+
				"what is no secret can be in the command: env %[1]s=... PROGRAM", name)
		}
	}
	return nil
}

// variables returns the variables that a parameter names, with their values in tare's environment and
// the prefix load.CommandEnv.
func (r *Reader) variables(name string) (out []string) {
	for _, w := range r.words(name) {
		value, ok := os.LookupEnv(w)
		if !ok {
			r.fail(name, hint.New(fmt.Errorf("tare has no variable %s", w), "export "+w+" before; sudo passes it on with --preserve-env="+w))
		}
		out = append(out, load.CommandEnv+w+"="+value)
	}
	return out
}

func checkCodes(s string) error {
	for _, c := range strings.Split(s, ",") {
		if n, err := strconv.Atoi(c); err != nil || n < 0 || n > 255 {
			return fmt.Errorf("%q is not an exit code from 0 to 255", c)
		}
	}
	return nil
}

func parseCodes(s string) (out []int) {
	for _, c := range strings.Split(s, ",") {
		n, _ := strconv.Atoi(c) // checkCodes has checked it
		out = append(out, n)
	}
	return out
}

func checkExtract(s string) error {
	if s == None {
		return nil
	}
	e := extractOf(s)
	if e == nil {
		return fmt.Errorf("%q: want none, regexp:PATTERN or json:PATH", s)
	}
	return e.Compile()
}

// extractOf reads regexp:PATTERN or json:PATH; nil for anything else.
func extractOf(s string) *load.Extract {
	if pattern, ok := strings.CutPrefix(s, "regexp:"); ok && pattern != "" {
		return &load.Extract{Regexp: pattern}
	}
	if path, ok := strings.CutPrefix(s, "json:"); ok && path != "" {
		return &load.Extract{JSON: path}
	}
	return nil
}

// baseUnit is the base unit of a unit and the factor to it. An unknown unit is its own base.
func baseUnit(unit string) (base string, scale float64) {
	if u, ok := units.OfHeading(unit); ok {
		return u.Base, u.Scale
	}
	return unit, 1
}

// durationBetween returns a check that allows durations from low to high.
func durationBetween(low, high time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < low || d > high || d == math.MaxInt64 {
			return fmt.Errorf("%q is not a time from %v to %v, such as 500ms or 2m", s, low, high)
		}
		return nil
	}
}

func (r *Reader) duration(name string) time.Duration {
	d, err := time.ParseDuration(r.Values[name])
	r.fail(name, err)
	return d
}

// words splits a list into words; "none" is an empty list.
func (r *Reader) words(name string) []string {
	if r.Values[name] == None {
		return nil
	}
	words, err := splitWords(r.Values[name])
	r.fail(name, err)
	return words
}
