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

	"github.com/tarelab/tare/internal/analysis"
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
	return `Each result with its experiment, age, size on disk and answer, the newest first. An answer that a result does not keep, as of a killed run, or keeps from before its record or by other rules of judging, is computed from the record and kept in effects.json.

Examples:

  tare list
  tare list /var/lib/results --format json`
}

func (listCommand) exits() []codeMeaning {
	return exitCodes("listed", exitError, exitUsage)
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
	Servers    []string   `json:"servers,omitempty"` // with their versions
	Started    time.Time  `json:"started"`
	Bytes      int64      `json:"bytes"`  // size of its files
	Answer     string     `json:"answer"` // the answer in one line, in English
}

// named is the experiment with its servers.
func (x foundResult) named() string {
	if len(x.Servers) == 0 {
		return x.Experiment
	}
	return x.Experiment + " (" + strings.Join(x.Servers, ", ") + ")"
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
		return export.Object(c.stdout, listing{listSchema, resultsBelow(root, messages.In(messages.English))})
	}
	all := resultsBelow(root, c.in)
	if len(all) == 0 {
		c.say("list.none", "dir", root)
		return nil
	}
	return c.printList(all, time.Now())
}

// resultsBelow describes the results at or below a directory, the newest first. The stages of an advice are
// one entry, and so are the nodes of a run.
func resultsBelow(root string, in messages.Catalog) []foundResult {
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
func describeResult(dir string, in messages.Catalog) foundResult {
	x := foundResult{Dir: dir, Kind: listedRun, Started: startOf(dir), Bytes: sizeOf(dir)}
	switch {
	case isAdvice(dir):
		a, err := record.ReadAdvice(dir)
		if x.Kind = listedAdvice; err != nil {
			x.Answer = unread(dir, err)
			return x
		}
		x.Experiment, x.Answer = a.Experiment, adviceInWords(in, a)
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
		x.Experiment, x.Answer = n.Experiment, in.Text("list.nodes", "n", len(n.Nodes))
		return x
	}
	p, err := record.ReadPlan(dir)
	if err != nil {
		x.Answer = unread(dir, err)
		return x
	}
	x.Experiment, x.Answer = p.Experiment, answerIn(dir, report.In(in))
	for _, program := range p.Programs {
		if name := program.String(); program.Server && !slices.Contains(x.Servers, name) {
			x.Servers = append(x.Servers, name)
		}
	}
	return x
}

// unread is an error about a result, without its directory.
func unread(dir string, err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), dir+": "), dir+"/")
}

// answerIn is the answer of a result in one line: the one that the result keeps, if it is not older than the record and this
// tare judges by the same rules; else from the record, and the result keeps that. A kept one is better than none where the
// record cannot be read.
func answerIn(dir string, in report.Language) string {
	kept, none := record.ReadEffects(dir)
	if none == nil && kept.Answer == nil {
		none = record.ErrNoRecord
	}
	if none == nil && kept.Statistics == analysis.Statistics && !newerRecord(dir) {
		return in.Sentence(&kept)
	}
	result, e, err := analyse(dir)
	switch {
	case err != nil && none == nil:
		return in.Sentence(&kept)
	case err != nil:
		return unread(dir, err)
	case !result.Running:
		_ = keepEffects(dir, e) // the directory may be another user's, or read-only
	}
	return in.Sentence(e)
}

// newerRecord says whether the record of a result was written after its effects.
func newerRecord(dir string) bool {
	r, err := os.Stat(filepath.Join(dir, record.RecordFile))
	e, eerr := os.Stat(filepath.Join(dir, record.EffectsFile))
	return err == nil && eerr == nil && r.ModTime().After(e.ModTime())
}

// adviceInWords says what became of each loss.
func adviceInWords(in messages.Catalog, a record.Advice) string {
	var parts []string
	for _, l := range a.Losses {
		parts = append(parts, in.Text("join.colon", "subject", l.Workload, "what", in.Text(standingOf(l))))
	}
	return cmp.Or(in.JoinAll("join.semicolon", parts...), in.Text("standing.none"))
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
	in := c.in
	rows := [][4]string{{in.Text("list.result"), in.Text("list.experiment"), in.Text("list.age"), in.Text("list.size")}}
	for _, x := range all {
		age := now.Sub(x.Started)
		rows = append(rows, [4]string{export.Clean(x.Dir), export.Clean(x.named()), cmp.Or(inOneUnit(age), in.Text("list.now")), quantity.Bytes(float64(x.Bytes))})
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
