package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

type listCommand struct {
	Dir    string     `arg:"" optional:"" help:"Where to look, two directories deep. Default: here."`
	Format planFormat `group:"output" default:"text" placeholder:"text|json" help:"Output format."`
}

func (listCommand) Help() string {
	return `Each result with its experiment, age, size on disk and answer, the newest first. The answer of a killed run is computed from its record.

Examples:

  tare list
  tare list /var/lib/results --format json

` + exitCodes("listed", exitError, exitUsage)
}

// foundResult is a result as --format json prints it.
type foundResult struct {
	Dir        string     `json:"dir"`
	Kind       listedKind `json:"kind"`
	Experiment string     `json:"experiment"`
	Started    time.Time  `json:"started"`
	Bytes      int64      `json:"bytes"`
	Answer     string     `json:"answer"`
}

// listedKind is the kind of a result.
type listedKind string

// The kinds: of a run, of the runs on several nodes, of tare advise.
const (
	listedRun    listedKind = "run"
	listedNodes  listedKind = "nodes"
	listedAdvice listedKind = "advice"
)

func (l listCommand) Run(c *console) error {
	root := l.Dir
	if root == "" {
		root = "."
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return &usageError{hint.New(noResult(root), "tare list DIR"), ""}
	}
	if l.Format == "json" {
		return export.Object(c.stdout, resultsBelow(root, report.In(messages.In(messages.English))))
	}
	all := resultsBelow(root, c.reports())
	if len(all) == 0 {
		c.say(noResults, root)
		return nil
	}
	return c.printList(all, time.Now())
}

// resultsBelow describes the results at or below a directory, the newest first. The stages of an advice are
// one entry, and so are the nodes of a run.
func resultsBelow(root string, in report.Language) []foundResult {
	all, seen := []foundResult{}, map[string]bool{}
	for _, dir := range resultsIn(root) {
		if above := filepath.Dir(dir); isAdvice(above) {
			dir = above
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if x, ok := describeResult(dir, in); ok {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b foundResult) int { return b.Started.Compare(a.Started) })
	return all
}

func isAdvice(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.AdviceFile))
	return err == nil
}

// describeResult describes a result. ok is false for a directory of another program with a plan.json.
func describeResult(dir string, in report.Language) (x foundResult, ok bool) {
	x = foundResult{Dir: dir, Kind: listedRun, Started: startOf(dir), Bytes: sizeOf(dir)}
	switch {
	case isAdvice(dir):
		a, err := record.ReadAdvice(dir)
		if err != nil {
			return x, false
		}
		x.Kind, x.Experiment, x.Answer = listedAdvice, a.Experiment, adviceInWords(a)
		if t, err := time.Parse(time.RFC3339, a.Started); err == nil {
			x.Started = t
		}
		return x, true
	case isNodes(dir):
		n, err := record.ReadNodes(dir)
		if err != nil {
			return x, false
		}
		x.Kind, x.Experiment, x.Answer = listedNodes, n.Experiment, quantity.Count(len(n.Nodes), "node")
		return x, true
	}
	p, err := record.ReadPlan(dir)
	if err != nil {
		return x, false
	}
	x.Experiment, x.Answer = p.Experiment, answerIn(dir, in)
	return x, true
}

// answerIn is the answer of a result in one line: from the effects that its run wrote, else from its record.
func answerIn(dir string, in report.Language) string {
	if e, err := record.ReadEffects(dir); err == nil {
		return in.Sentence(&e)
	}
	_, e, err := analyse(dir)
	if err != nil {
		return strings.TrimPrefix(err.Error(), dir+": ")
	}
	return in.Sentence(e)
}

// adviceInWords says what became of each loss.
func adviceInWords(a record.Advice) string {
	var parts []string
	for _, l := range a.Losses {
		parts = append(parts, fmt.Sprintf("%s: %s", l.Workload, standingWords[l.Standing]))
	}
	if len(parts) == 0 {
		return nothingLost
	}
	return strings.Join(parts, "; ")
}

// sizeOf is the size of the files below a directory in bytes, without those that cannot be read.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// leastAnswer is the least width of the last column.
const leastAnswer = 30

func (c *console) printList(all []foundResult, now time.Time) error {
	t := c.translate
	rows := [][4]string{{t.of(listHead[0]), t.of(listHead[1]), t.of(listHead[2]), t.of(listHead[3])}}
	for _, x := range all {
		age := t.of(inOneUnit(now.Sub(x.Started)))
		rows = append(rows, [4]string{export.Clean(x.Dir), export.Clean(x.Experiment), age, quantity.Bytes(float64(x.Bytes))})
	}
	var widths [4]int
	for _, r := range rows {
		for i, text := range r {
			widths[i] = max(widths[i], widthOf(text))
		}
	}
	p := newSheet(c)
	for i, r := range rows {
		lead := padded(r[0], widths[0]) + "  " + padded(r[1], widths[1]) + "  " +
			flushRight(r[2], widths[2]) + "  " + flushRight(r[3], widths[3]) + "  "
		columns := widthOf(lead)
		answer := t.of(listAnswer)
		if i > 0 {
			answer = all[i-1].Answer
		}
		if p.width-columns < leastAnswer { // the answer has a line of its own
			p.WriteString(strings.TrimRight(lead, " ") + "\n")
			lead, columns = "    ", 4
		}
		if i == 0 {
			p.WriteString(string(c.paint(c.stdout, dim, strings.TrimRight(lead+answer, " "))) + "\n")
			continue
		}
		p.entry(lead, columns, answer)
	}
	return p.flush()
}

// inOneUnit is an age in one unit: "4 min", "3 d".
func inOneUnit(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
