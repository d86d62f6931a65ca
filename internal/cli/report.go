package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

type reportCommand struct {
	Dir     string `arg:"" optional:"" help:"A result directory, or its page. Default: the newest result here."`
	Format  format `group:"output" default:"text" placeholder:"FORM" help:"Output format: ${forms}."`
	Verbose bool   `short:"v" group:"output" help:"Everything as text: each layer, metric, probe and check."`
	Open    bool   `group:"output" help:"Write report.html into the result directory and open it in a browser."`
}

func (reportCommand) Help() string {
	return "Computes the report again from the record, also of a killed run. Only --open writes into the directory.\n\n" +
		"Examples:\n\n  tare report\n  tare report r\n  tare report r --open\n  tare report r --format html > r.html\n  tare report r --format markdown > comment.md\n  tare report r --format json | jq '.effects[] | select(.verdict == \"cost\")'"
}

func (reportCommand) exits() []codeMeaning {
	return exitCodes("printed", exitError, exitUsage)
}

func (r reportCommand) Run(c *console) error {
	var err error
	named := r.Dir != ""
	if r.Dir, err = c.resultGiven(r.Dir); err != nil {
		return err
	}
	if side, err := readNodes(r.Dir); side != nil || err != nil {
		return r.nodes(c, side, err)
	}
	debug.SetGCPercent(50) // 100 000 windows stay within 400 MiB
	result, effects, err := analyse(r.Dir)
	if err != nil {
		return err
	}
	if r.Open {
		return openPage(c, r.Dir, func(dir string) (string, error) { return c.writePage(dir, result, effects) })
	}
	if r.Format == "html" {
		return c.page(c.stdout, result, effects)
	}
	g, _ := ownGate(result, effects) // tare check says why there is none
	return c.print(r.Format, effects, report.Options{Verbose: r.Verbose, Dir: r.Dir, Named: named, Gate: g})
}

// nodes prints the comparison of several nodes.
func (r reportCommand) nodes(c *console, side *sideBySide, err error) error {
	if err != nil {
		return err
	}
	const several = "with a result of several nodes"
	one := "of one node: tare report " + filepath.Join(r.Dir, side.Nodes.Nodes[0].Dir)
	switch {
	case r.Open:
		return useless("--open", several, one+" --open")
	case r.Verbose:
		return useless("--verbose", several, one+" --verbose")
	case !slices.Contains([]format{"text", "markdown", "json"}, r.Format):
		return &usageError{hint.New(fmt.Errorf("%s is of several nodes, side by side as text, markdown or json", r.Dir), one+" --format "+string(r.Format)), ""}
	}
	return side.print(c, r.Format)
}

// analyse reads a result directory and computes its effects. The result is not nil also if the
// analysis fails.
func analyse(dir string) (*record.Result, *record.Effects, error) {
	result, err := readResult(dir)
	if err != nil {
		return nil, nil, err
	}
	effects, err := analysis.Analyse(result)
	return result, effects, err
}

// adviceGiven is the error about an advice in place of a result; nil: it is none.
func adviceGiven(dir string) error {
	if _, err := record.ReadAdvice(dir); err != nil {
		return nil
	}
	return &usageError{hint.New(fmt.Errorf("%s is an advice, not a result", dir), "tare advise "+hint.Quote(dir)+" prints it"), ""}
}

func readResult(dir string) (*record.Result, error) {
	const made = "name a directory that tare run made (-o DIR)"
	if err := adviceGiven(dir); err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, &usageError{hint.New(noResult(dir), made), ""}
	}
	result, err := record.Scan(dir)
	switch {
	case errors.Is(err, record.ErrNoRecord):
		return nil, &usageError{hint.New(err, made), ""}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return nil, &usageError{hint.New(err, made), ""}
	case err != nil:
		return nil, readable(err)
	}
	return result, nil
}

// readable adds a remedy to the error of a result that cannot be read.
func readable(err error) error {
	switch {
	case errors.Is(err, record.ErrNewer):
		return hint.New(err, "read it with the tare that made it, or a newer one: tare version")
	case errors.Is(err, record.ErrTwice):
		return hint.New(err, "remove the lines that were added: head -n LINE-1 of the line that is named, into a copy of the directory")
	case errors.Is(err, record.ErrForeign):
		return hint.New(err, "put plan.json, manifest.json and record.jsonl of one run into the directory")
	case errors.Is(err, record.ErrDamaged):
		return hint.New(err, "measure again: tare run; what the tools printed is in its directory raw/")
	}
	return err
}
