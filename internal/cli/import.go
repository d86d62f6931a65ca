package cli

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/logs/csv"
	formats "github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

type importCommand struct {
	Files        []string `arg:"" optional:"" name:"arm=files" help:"The files of each arm. The first arm is the baseline; \"-\" is standard input."`
	Baseline     string   `group:"experiment" placeholder:"ARM" help:"Another arm as the baseline."`
	Kind         kind     `group:"experiment" placeholder:"KIND" help:"What the files are, where they do not tell: ${kinds}."`
	Claim        []string `group:"experiment" sep:"none" placeholder:"METRIC=CHANGE%" help:"A percentage that somebody published of these figures, to be checked: p50=-42% or, with several arms, pod:p50=-42%. May be repeated."`
	Column       []string `group:"experiment" sep:"none" placeholder:"NAME=MEANING" help:"What a column of a table is: ignore, setting, arm, load, run, host, or a metric such as throughput or p95 (ms). '*=ignore' leaves out all unknown columns. May be repeated."`
	Margin       string   `group:"experiment" default:"1%" placeholder:"1%" help:"Smallest effect that matters to you."`
	KnownColumns bool     `group:"output" help:"Print all columns of tables that are known. Needs no file."`
	Output       newDir   `short:"o" group:"output" placeholder:"DIR" help:"Result directory, made anew. Without it: tare-result-DATE-TIME here."`
	Format       format   `group:"output" default:"text" placeholder:"FORM" help:"Form of the report on standard output: ${forms}."`
}

func (importCommand) Help() string {
	return `Reads what other tools printed: sysbench (0.4 to 1.1, also a few lines pasted from a page), fio (JSON, text, terse, logs), clickhouse-benchmark, pgbench, hyperfine, redis-benchmark (also Valkey's), the summaries of dbench, kbench and kubestr, CSV and Markdown tables, also compressed with gzip or bzip2. The result is like that of a run: tare report, tare check and the others read it.

Every file is one run of its arm, or several; the files of the threads or jobs of one run are one run. Reports of a page that differ in a heading or a command line are different loads. One arm alone is summed up; a table that names its arms needs no NAME=. A table is read if all its columns are known (--known-columns) or named (--column). Patterns are expanded where the shell did not. One run per arm gives no verdict: run each arm at least 3 times.

Examples:

  tare import host=bare/*.log pod=pod/*.log
  tare import host=bare.json pod=pod.json hostpath=vol.json -o r
  tare import alone=alone.json hog=hog.json --claim p50=-42%
  kubectl logs bench | tare import host=bare.log pod=-
  tare import table.csv
  tare import table.csv --column 'VUs=setting' --column 'cv=ignore'`
}

func (importCommand) exits() []codeMeaning {
	return exitCodes("read", exitError, exitUsage)
}

// kind is the value of --kind.
type kind string

func (k *kind) UnmarshalText(b []byte) error { return oneOf((*string)(k), string(b), k.words()...) }

func (kind) words() []string { return importer.Kinds() }

func (i *importCommand) Run(c *console) error {
	if i.KnownColumns {
		_, err := fmt.Fprint(c.stdout, csv.Known)
		return err
	}
	options, err := i.options(c)
	if err != nil {
		return &usageError{err, "tare import --help"}
	}
	margin, err := experiment.ParseRatio(i.Margin)
	if err == nil && !(margin > 0 && margin < 1) {
		err = hint.New(fmt.Errorf("%s is not between 0 and 100%%", i.Margin), "write 1% or 0.01")
	}
	if err != nil {
		return &usageError{fmt.Errorf("--margin: %w", err), ""}
	}
	now := time.Now()
	dir, err := resultDir(i.Output, now)
	if err != nil {
		return err
	}
	read, err := importer.Read(options)
	if err != nil { // about a file that the user named
		return &usageError{err, i.remedy(c, err)}
	}
	m := record.Manifest{Schema: record.ManifestSchema, Started: now.UTC(), Tare: version(), Statistics: analysis.Statistics}
	if u, err := user.Current(); err == nil {
		m.User = u.Username
	}
	plan := record.Plan{Schema: record.PlanSchema, Experiment: "import", Command: c.args, Margin: margin}
	if err := read.Write(dir, plan, m); err != nil {
		return err
	}
	return i.finish(c, dir)
}

func (i *importCommand) options(c *console) (o importer.Options, err error) {
	o = importer.Options{Baseline: i.Baseline, Kind: formats.Kind(i.Kind), In: os.Stdin}
	for _, word := range i.Claim {
		claim, err := importer.Claim(word)
		if err != nil {
			return o, fmt.Errorf("--claim: %w", err)
		}
		o.Claims = append(o.Claims, claim)
	}
	if o.Columns, err = csv.NewColumns(i.Column); err != nil {
		return o, fmt.Errorf("--column: %w", err)
	}
	o.Arms, err = importer.Arms(i.Files)
	return o, err
}

// remedy is the command to type next. Where columns of tables are not known, it is this command with a proposal for
// each of them.
func (i *importCommand) remedy(c *console, err error) string {
	var unknown *csv.UnknownColumns
	if !errors.As(err, &unknown) {
		return "tare import --help"
	}
	words := append([]string{"tare"}, c.args...)
	for _, p := range unknown.Proposals() {
		words = append(words, "--column", p)
	}
	return hint.Command(words...)
}

// finish prints the report of the result directory.
func (i *importCommand) finish(c *console, dir string) error {
	result, effects, err := analyse(dir)
	if err != nil {
		return err
	}
	err = c.writeEffects(result, effects) // on a full disk the report is printed all the same
	kept := err == nil
	if i.Format == "html" {
		err = errors.Join(err, c.page(c.stdout, result, effects))
	} else {
		err = errors.Join(err, c.print(i.Format, effects, report.Options{}))
	}
	c.noteResults(dir, kept)
	return err
}
