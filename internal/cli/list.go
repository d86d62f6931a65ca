package cli

import (
	"cmp"
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

// listSchema is the schema of tare list's output.
const listSchema = "tare/list/v1"

// listing is what --format json prints.
type listing struct {
	Schema  string        `json:"schema"`
	Results []foundResult `json:"results"` // the newest first
}

// foundResult is a result in the list.
type foundResult struct {
	Dir        string     `json:"dir"`
	Kind       listedKind `json:"kind"`
	Experiment string     `json:"experiment"`
	Started    time.Time  `json:"started"`
	Bytes      int64      `json:"bytes"`  // size of its files
	Answer     string     `json:"answer"` // the answer in one line, in English
}

// listedKind is the kind of a result.
type listedKind string

// The kinds.
const (
	listedRun    listedKind = "run"    // of one run
	listedNodes  listedKind = "nodes"  // of the runs on several nodes
	listedAdvice listedKind = "advice" // of tare advise
)

func (l listCommand) Run(c *console) error {
	root := l.Dir
	if root == "" {
		root = "."
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return &usageError{hint.New(noResult(root), "tare list DIR"), ""}
	}
	if _, err := os.ReadDir(root); err != nil {
		return hint.New(err, "sudo tare list "+root)
	}
	if l.Format == "json" {
		return export.Object(c.stdout, listing{listSchema, resultsBelow(root, report.In(messages.In(messages.English)))})
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
		all = append(all, describeResult(dir, in))
	}
	slices.SortStableFunc(all, func(a, b foundResult) int { return b.Started.Compare(a.Started) })
	return all
}

func isAdvice(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.AdviceFile))
	return err == nil
}

// describeResult describes a result; one that cannot be read by the error.
func describeResult(dir string, in report.Language) foundResult {
	x := foundResult{Dir: dir, Kind: listedRun, Started: startOf(dir), Bytes: sizeOf(dir)}
	switch {
	case isAdvice(dir):
		a, err := record.ReadAdvice(dir)
		if x.Kind = listedAdvice; err != nil {
			x.Answer = unread(dir, err)
			return x
		}
		x.Experiment, x.Answer = a.Experiment, adviceInWords(a)
		if t, err := time.Parse(time.RFC3339, a.Started); err == nil {
			x.Started = t
		}
		return x
	case isNodes(dir):
		n, err := record.ReadNodes(dir)
		if x.Kind = listedNodes; err != nil {
			x.Answer = unread(dir, err)
			return x
		}
		x.Experiment, x.Answer = n.Experiment, quantity.Count(len(n.Nodes), "node")
		return x
	}
	p, err := record.ReadPlan(dir)
	if err != nil {
		x.Answer = unread(dir, err)
		return x
	}
	x.Experiment, x.Answer = p.Experiment, answerIn(dir, in)
	return x
}

// unread is an error about a result, without its directory.
func unread(dir string, err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), dir+": "), dir+"/")
}

// answerIn is the answer of a result in one line: from the effects that its run wrote, else from its record.
func answerIn(dir string, in report.Language) string {
	if e, err := record.ReadEffects(dir); err == nil {
		return in.Sentence(&e)
	}
	_, e, err := analyse(dir)
	if err != nil {
		return unread(dir, err)
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
	in := messages.In(c.language)
	rows := [][4]string{{in.Text("list.result"), in.Text("list.experiment"), in.Text("list.age"), in.Text("list.size")}}
	for _, x := range all {
		age := now.Sub(x.Started)
		rows = append(rows, [4]string{export.Clean(x.Dir), export.Clean(x.Experiment), cmp.Or(inOneUnit(age), in.Text("list.now")), quantity.Bytes(float64(x.Bytes))})
	}
	var widths [4]int
	for _, r := range rows {
		for i, text := range r {
			widths[i] = max(widths[i], report.Width(text))
		}
	}
	p := newSheet(c)
	for i, r := range rows {
		lead := report.PadRight(r[0], widths[0]) + "  " + report.PadRight(r[1], widths[1]) + "  " + report.PadLeft(r[2], widths[2]) + "  " + report.PadLeft(r[3], widths[3]) + "  "
		columns := report.Width(lead)
		answer := in.Text("list.answer")
		if i > 0 {
			answer = all[i-1].Answer
		}
		if p.width-columns < leastAnswer { // the answer has a line of its own
			p.WriteString(strings.TrimRight(lead, " ") + "\n")
			lead, columns = "    ", 4
		}
		if i == 0 {
			p.WriteString(string(c.tint(c.stdout, dim, strings.TrimRight(lead+answer, " "))) + "\n")
			continue
		}
		p.entry(lead, columns, answer)
	}
	return p.flush()
}

// inOneUnit is an age in one unit: "4 min", "3 d"; "": less than a minute.
func inOneUnit(d time.Duration) string {
	switch {
	case d < time.Minute:
		return ""
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
