package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/export"
	"github.com/tarelab/tare/internal/quantity"
	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/record"
)

// NodesSource is what a page of several nodes shows beside them; every part may
// be empty.
type NodesSource struct {
	Pages   map[string]string          // address of each node's own page
	Effects map[string]*record.Effects // what each node says by itself
}

// NodesHTML prints several nodes side by side as one page that needs nothing
// else: no network, no file, no script.
func NodesHTML(w io.Writer, n *record.Nodes, s NodesSource) error {
	return fill(w, nodesTemplate, newNodesPage(n, s))
}

//go:embed page_nodes.tmpl
var nodesPageText string

var nodesTemplate = template.Must(template.Must(pageTemplate.Clone()).New("nodes").Parse(nodesPageText))

// nodesPage is what the template prints.
type nodesPage struct {
	sheet
	About   sentence
	Verdict sentence
	Caveats block  // nodes that are not in it
	Short   *block // where the verdict does not say it all
	Loads   []nodesLoad
	Trust   block
	Differ  *table
	Nothing string // what is said where nothing differs
	Alike   *table
	Each    []nodeView
	Left    block
	Repeat  block
}

// nodesLoad is the section of one workload.
type nodesLoad struct {
	ID, Name, About string
	Figures         []figure
	Side            block // all arms in one table
	Others          []nodesMetric
}

// nodesMetric is a metric in which no node is judged.
type nodesMetric struct {
	Name    string
	Title   string
	Figures []figure
}

// nodeView is one node by itself.
type nodeView struct {
	Name, Page string
	About      string
	Verdict    sentence
}

func newNodesPage(n *record.Nodes, s NodesSource) nodesPage {
	about := nodesAbout(n)
	p := nodesPage{sheet: newSheet(about.String(), false), About: about, Verdict: nodesVerdict(n), Caveats: nodesCaveats(n), Trust: nodesTrust(n),
		Left: leftOut(&record.Effects{Left: n.Left}), Repeat: nodesRepeat(n, s)}
	if short := whichIsOdd(n); len(short.items) > 1 {
		p.Short = &short
	}
	for i, w := range nodeWorkloads(n) {
		p.Loads = append(p.Loads, newNodesLoad(n, w, fmt.Sprintf("w%d", i+1)))
	}
	differ, alike := factTables(n)
	if len(differ.rows) > 0 {
		p.Differ = &differ
	} else if len(n.Facts) > 0 {
		p.Nothing = text("nodes.nothing")
	}
	if len(alike.rows) > 0 {
		p.Alike = &alike
	}
	for _, node := range n.Nodes {
		p.Each = append(p.Each, newNodeView(node, s))
	}
	return p
}

// nodesAbout is the title with the time of the first node.
func nodesAbout(n *record.Nodes) sentence {
	about := nodesTitle(n)
	if len(n.Nodes) > 0 && n.Nodes[0].Started != "" {
		about = append(about, cell{", " + started(n.Nodes[0].Started), plain})
	}
	return about
}

func newNodeView(node record.NodeResult, s NodesSource) nodeView {
	v := nodeView{Name: export.Clean(node.Name), Page: s.Pages[node.Name], About: export.Clean(host(node.Host))}
	if e := s.Effects[node.Name]; e != nil {
		v.Verdict = verdictSentence(e, workloads(e))
	}
	return v
}

// nodesRepeat is the command without the seed of a single node, and the seeds.
func nodesRepeat(n *record.Nodes, s NodesSource) block {
	var b block
	var seeds []string
	for _, node := range n.Nodes {
		e := s.Effects[node.Name]
		if e == nil {
			continue
		}
		if len(b.items) == 0 && len(e.Command) > 0 {
			words := slices.DeleteFunc(slices.Clone(e.Command), func(w string) bool { return strings.HasPrefix(w, "--seed=") })
			b.items = append(b.items, item{label: cell{text("label.command"), plain}, text: sentence{{command(words), code}}})
		}
		seeds = append(seeds, fmt.Sprintf("%s %d", node.Name, e.Seed))
	}
	if len(seeds) > 0 {
		b.items = append(b.items, item{label: cell{text("label.seeds"), plain}, text: say(strings.Join(seeds, ", "))})
	}
	return b
}

func newNodesLoad(n *record.Nodes, name, id string) nodesLoad {
	v := nodesLoad{ID: id, Name: export.Clean(name), Side: sideBySide(n, name)}
	for _, w := range n.Workloads {
		if w.Name == name {
			v.About = export.Clean(w.Title)
		}
	}
	for i, a := range n.Arms {
		if f := nodesFigure(n, a, fmt.Sprintf("%s-a%d", id, i+1), true); a.Workload == name && f != nil {
			v.Figures = append(v.Figures, *f)
		}
	}
	for i, a := range n.Exploratory {
		f := nodesFigure(n, a, fmt.Sprintf("%s-x%d", id, i+1), false)
		if a.Workload != name || f == nil {
			continue
		}
		if of := wordOf(n, name, a.Metric).of; len(v.Others) == 0 || v.Others[len(v.Others)-1].Name != of {
			v.Others = append(v.Others, nodesMetric{Name: of, Title: text("nodes.exploratory", "metric", of)})
		}
		last := &v.Others[len(v.Others)-1]
		last.Figures = append(last.Figures, *f)
	}
	return v
}

// nodesFigure is one metric of one arm on every node; nil where nothing can be
// drawn.
func nodesFigure(n *record.Nodes, a record.NodeArm, id string, judged bool) *figure {
	m := wordOf(n, a.Workload, a.Metric)
	f := chart.Forest{Margin: n.Margin, Tick: tickOf, Close: true, Less: m.axis("axis.less"), More: m.axis("axis.more")}
	f.Frame = chart.Frame{ID: id, Title: export.Clean(text("nodes.figure", "arm", a.Arm, "baseline", a.Baseline, "metric", m.of))}
	for _, node := range n.Nodes {
		r := nodeRow(a, node.Name)
		f.Rows = append(f.Rows, r)
		f.Desc += r.Tip + ". "
	}
	if !anyKnown(f.Rows) {
		return nil
	}
	return &figure{ID: id, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: nodesCaption(n, a, judged),
		Tables: []table{nodesTable(n, a)}, Data: nodesData(n, a), File: fileName(named(record.WorkloadResult{Name: a.Workload}), slug(a.Arm+"-"+a.Metric+"-nodes"))}
}

// nodeWord says how a node stands to the others in one arm.
func nodeWord(a record.NodeArm, node string) cell {
	switch {
	case isOdd(a, node):
		return cell{text("odd.word"), bad}
	case a.Apart[node] != "":
		return cell{text("odd.apart"), unsure}
	case !a.Known:
		return cell{}
	case a.Differ && len(a.Against) == 2:
		return cell{text("odd.both"), unsure}
	case a.Differ && len(a.Odd) == 0:
		return cell{text("odd.some"), unsure}
	}
	return cell{text("odd.not"), calm}
}

// nodeRow is a node as a row of a forest.
func nodeRow(a record.NodeArm, node string) chart.Effect {
	word, effect := nodeWord(a, node), a.Effects[node]
	r := chart.Effect{Label: export.Clean(node), Text: quantity.Interval(effect), Word: word.text, Tone: toneClass[word.tone], Odd: isOdd(a, node)}
	if r.Tone == "" {
		r.Tone = "calm"
	}
	r.Tip = r.Label + ": " + r.Text
	if others := a.Others[node]; others != nil {
		band := span(others)
		r.Others = &band
		r.Tip += text("tip.others", "effect", quantity.Interval(others))
	}
	if x := a.Against[node]; x != nil {
		r.Tip += text("tip.against", "effect", quantity.Interval(x))
	}
	if r.Word != "" {
		r.Tip += "; " + r.Word
	}
	if why := a.Apart[node]; why != "" {
		r.Tip += ": " + export.Clean(why)
	}
	if effect != nil {
		r.Known, r.Span = true, span(effect)
	}
	return r
}

func nodesCaption(n *record.Nodes, a record.NodeArm, judged bool) []string {
	key := []string{text("nodes.key")}
	if len(a.Others) > 0 {
		key = append(key, text("nodes.key.band"))
	}
	if len(a.Odd) > 0 {
		key = append(key, text("nodes.key.odd"))
	}
	if n.Margin > 0 {
		key = append(key, text("nodes.key.margin", "margin", quantity.PlusMinus(n.Margin)))
	}
	says := text("nodes.says.untold")
	switch {
	case !judged:
		says = text("nodes.says.exploratory")
	case a.Known && a.Differ:
		says = text("nodes.says.differ", "test", welch(a))
	case a.Known:
		says = text("nodes.says.alike", "test", welch(a))
	}
	return []string{says, strings.Join(key, " ")}
}

// nodesTable is the same as numbers.
func nodesTable(n *record.Nodes, a record.NodeArm) table {
	t := table{columns: []column{{head: text("head.node")}, {head: text("head.effect"), align: interval}, {head: text("nodes.others"), align: interval},
		{head: text("nodes.against"), align: interval}, {head: text("head.verdict")}}}
	for _, node := range n.Nodes {
		word := nodeWord(a, node.Name)
		if why := a.Apart[node.Name]; why != "" {
			word.text += ": " + why
		}
		t.rows = append(t.rows, row{{node.Name, strong}, {quantity.Interval(a.Effects[node.Name]), plain}, {quantity.Interval(a.Others[node.Name]), plain},
			{quantity.Interval(a.Against[node.Name]), plain}, word})
	}
	return t.without(colsEmpty(t)...)
}

// slug are the letters, digits and dashes of a name.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
}

// nodesData is the data behind one figure as CSV, ratios with 1.0 for equal. What
// is not known is empty.
func nodesData(n *record.Nodes, a record.NodeArm) template.URL {
	return dataURL(func(b *csvBuffer) error {
		b.row("workload", "metric", "arm", "baseline", "node", "ratio", "low", "high", "standard_error", "degrees_of_freedom",
			"others_ratio", "others_low", "others_high", "against_ratio", "against_low", "against_high", "odd", "p_adjusted", "not_compared")
		for _, node := range n.Nodes {
			line := []string{a.Workload, a.Metric, a.Arm, a.Baseline, node.Name}
			line = append(line, export.Ratio(a.Effects[node.Name])...)
			if x := a.Effects[node.Name]; x != nil {
				line = append(line, export.Known(x.SE), export.Known(x.DF))
			} else {
				line = append(line, "", "")
			}
			line = append(append(line, export.Ratio(a.Others[node.Name])...), export.Ratio(a.Against[node.Name])...)
			p := ""
			for _, o := range a.Odd {
				if o.Node == node.Name {
					p = export.Number(o.P)
				}
			}
			b.row(append(line, strconv.FormatBool(isOdd(a, node.Name)), p, a.Apart[node.Name])...)
		}
		return nil
	})
}
