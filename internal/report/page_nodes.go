package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

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
	var b bytes.Buffer
	if err := nodesTemplate.Execute(&b, newNodesPage(n, s)); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
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
	name := ""
	for _, c := range about {
		name += c.text
	}
	p := nodesPage{sheet: newSheet(name, false), About: about, Verdict: nodesVerdict(n), Caveats: nodesCaveats(n), Trust: nodesTrust(n),
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
		p.Nothing = "Nothing that tare knows of the hosts, and no setting of an arm."
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
	v := nodeView{Name: clean(node.Name), Page: s.Pages[node.Name], About: clean(host(node.Host))}
	if e := s.Effects[node.Name]; e != nil {
		v.Verdict = oneSentence(e, workloads(e))
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
			b.items = append(b.items, item{cell{"command", plain}, sentence{{command(words), code}}})
		}
		seeds = append(seeds, fmt.Sprintf("%s %d", node.Name, e.Seed))
	}
	if len(seeds) > 0 {
		b.items = append(b.items, item{cell{"seeds", plain}, say(strings.Join(seeds, ", "))})
	}
	return b
}

func newNodesLoad(n *record.Nodes, name, id string) nodesLoad {
	v := nodesLoad{ID: id, Name: clean(name), Side: sideBySide(n, name)}
	for _, w := range n.Workloads {
		if w.Name == name {
			v.About = clean(w.Title)
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
			v.Others = append(v.Others, nodesMetric{Name: of})
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
	f := chart.Forest{Margin: n.Margin, Tick: tickOf, Close: true, Less: "less " + clean(m.head), More: "more " + clean(m.head)}
	f.Frame = chart.Frame{ID: id, Title: clean(fmt.Sprintf("%s against %s: %s on each node", a.Arm, a.Baseline, m.of))}
	for _, node := range n.Nodes {
		r := nodeRow(a, node.Name)
		f.Rows = append(f.Rows, r)
		f.Desc += r.Tip + ". "
	}
	if !anyKnown(f.Rows) {
		return nil
	}
	return &figure{ID: id, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: nodesCaption(n, a, judged),
		Tables: []table{nodesTable(n, a)}, Data: nodesData(n, a), File: fileName(workload{WorkloadResult: record.WorkloadResult{Name: a.Workload}}, slug(a.Arm+"-"+a.Metric+"-nodes"))}
}

// nodeWord says how a node stands to the others in one arm.
func nodeWord(a record.NodeArm, node string) cell {
	switch {
	case isOdd(a, node):
		return cell{"odd", bad}
	case a.Apart[node] != "":
		return cell{"not compared", unsure}
	case !a.Known:
		return cell{}
	case a.Differ && len(a.Against) == 2:
		return cell{"the two differ", unsure}
	case a.Differ && len(a.Odd) == 0:
		return cell{"nodes differ", unsure}
	}
	return cell{"not odd", calm}
}

// nodeRow is a node as a row of a forest.
func nodeRow(a record.NodeArm, node string) chart.Effect {
	word, effect := nodeWord(a, node), a.Effects[node]
	r := chart.Effect{Label: clean(node), Text: Interval(effect), Word: word.text, Tone: toneClass[word.tone], Odd: isOdd(a, node)}
	if r.Tone == "" {
		r.Tone = "calm"
	}
	r.Tip = r.Label + ": " + r.Text
	if others := a.Others[node]; others != nil {
		band := span(others)
		r.Others = &band
		r.Tip += "; the other nodes " + Interval(others)
	}
	if x := a.Against[node]; x != nil {
		r.Tip += "; against them " + Interval(x)
	}
	if r.Word != "" {
		r.Tip += "; " + r.Word
	}
	if why := a.Apart[node]; why != "" {
		r.Tip += ": " + clean(why)
	}
	if effect != nil {
		r.Known, r.Span = true, span(effect)
	}
	return r
}

func nodesCaption(n *record.Nodes, a record.NodeArm, judged bool) []string {
	key := "Dot: the node's effect, with the 95 % interval of its own report."
	if len(a.Others) > 0 {
		key += " Band: the mean of the other nodes, with its 95 % interval."
	}
	if len(a.Odd) > 0 {
		key += " A square is an odd node."
	}
	if n.Margin > 0 {
		key += " Shaded, where it is in the picture: the margin of " + PlusMinus(n.Margin) + "."
	}
	var all []string
	switch {
	case !judged:
		all = append(all, "Exploratory: no node is called odd in it.")
	case a.Known && a.Differ:
		all = append(all, "The nodes differ by more than their errors ("+welch(a)+").")
	case a.Known:
		all = append(all, "The nodes do not differ by more than their errors ("+welch(a)+").")
	default:
		all = append(all, "It cannot be told whether the nodes differ: fewer than two can be compared.")
	}
	return append(all, key)
}

// nodesTable is the same as numbers.
func nodesTable(n *record.Nodes, a record.NodeArm) table {
	t := table{columns: []column{{head: "node"}, {head: "effect", align: interval}, {head: "the other nodes", align: interval},
		{head: "against them", align: interval}, {head: "verdict"}}}
	for _, node := range n.Nodes {
		word := nodeWord(a, node.Name)
		if why := a.Apart[node.Name]; why != "" {
			word.text += ": " + why
		}
		t.rows = append(t.rows, row{{node.Name, strong}, {Interval(a.Effects[node.Name]), plain}, {Interval(a.Others[node.Name]), plain},
			{Interval(a.Against[node.Name]), plain}, word})
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
			line = append(line, csvRatio(a.Effects[node.Name])...)
			if x := a.Effects[node.Name]; x != nil {
				line = append(line, csvKnown(x.SE), csvKnown(x.DF))
			} else {
				line = append(line, "", "")
			}
			line = append(append(line, csvRatio(a.Others[node.Name])...), csvRatio(a.Against[node.Name])...)
			p := ""
			for _, o := range a.Odd {
				if o.Node == node.Name {
					p = csvNumber(o.P)
				}
			}
			b.row(append(line, strconv.FormatBool(isOdd(a, node.Name)), p, a.Apart[node.Name])...)
		}
		return nil
	})
}

func csvRatio(r *record.Ratio) []string {
	if r == nil {
		return []string{"", "", ""}
	}
	return []string{csvNumber(r.Ratio), csvNumber(r.Low), csvNumber(r.High)}
}
