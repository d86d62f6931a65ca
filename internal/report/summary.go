package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// summaryLines is how many lines a summary may have where a shorter form of it
// has no more.
const summaryLines = 30

// How much a summary says.
const (
	inFull  = iota
	briefly // an item is a line where that can be
	counted // warnings are only counted
	least   // nor is it said what would make the host quieter
)

// printSummary prints the longest form that has no more lines than it may have.
func (r *textRenderer) printSummary(e *record.Effects, dir string) {
	for _, level := range []int{inFull, briefly, counted, least} {
		*r = textRenderer{width: r.width, color: r.color, brief: level != inFull}
		if r.document(summary(e, dir, level)); r.lines <= summaryLines {
			return
		}
	}
}

// summary is what a report says without being asked for more: the answer, one
// table of all arms, and what to do next.
func summary(e *record.Effects, dir string, level int) Document {
	ws := workloads(e)
	d := Document{title: title(e)}
	d.add(section{blocks: []block{caveats(e)}})
	d.add(section{blocks: []block{answerBlock(e, ws)}})
	d.add(section{blocks: tables(e, ws)})
	d.add(section{blocks: []block{footer(e, dir, level)}})
	return d
}

// full is everything. Of what a summary has one table for, each load has its own.
func full(e *record.Effects, dir string) Document {
	ws := workloads(e)
	d := Document{title: title(e)}
	d.add(section{blocks: []block{caveats(e)}})
	d.add(section{blocks: []block{answerBlock(e, ws)}})
	if len(ws) > 1 && e.Imported == nil {
		d.add(section{blocks: []block{matrix(e, ws)}})
	}
	d.add(section{blocks: []block{{items: nextItems(e, dir)}}})
	for _, w := range ws {
		if w.Unmeasured() {
			continue // the answer says it all
		}
		d.add(section{
			title:  w.Name,
			about:  aboutWorkload(w),
			blocks: []block{ladder(e, w), modes(e, w), secondary(w), kernel(w)},
		})
		for _, p := range priceSections(e, w) {
			d.add(p)
		}
	}
	d.add(section{title: text("head.quality"), blocks: trust(e, ws), fold: true})
	d.add(section{title: text("head.left"), blocks: []block{leftOut(e)}, fold: true})
	d.add(section{title: text("head.warnings"), blocks: []block{warnings(e)}})
	d.add(section{title: text("head.repeat"), blocks: []block{repeat(e)}, fold: true})
	return d
}

// answerBlock is the verdict, a line for each load, what was not tested, and the
// checks that did not hold.
func answerBlock(e *record.Effects, ws []workload) block {
	b := block{items: []item{{text: verdictSentence(e, ws)}}}
	if len(ws) > 1 {
		b.items = append(b.items, loadItems(e, ws)...)
	}
	b.items = append(b.items, untestedItems(e)...)
	b.items = append(b.items, checksItem(e, msg("more.verbose"))...)
	return b
}

// tables are the matrix of all loads, or what each load has instead of it.
func tables(e *record.Effects, ws []workload) (blocks []block) {
	priced := len(e.Prices) > 0
	if len(ws) > 1 && e.Imported == nil && !priced {
		return []block{matrix(e, ws)}
	}
	for _, w := range ws {
		if w.Unmeasured() {
			continue
		}
		sections := priceSections(e, w)
		for _, s := range sections {
			b := s.blocks[0]
			b.title = s.title
			blocks = append(blocks, b)
		}
		if len(sections) == 0 {
			b := ladder(e, w)
			b.title = w.Name
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// shownWarnings is how many warnings a summary has.
const shownWarnings = 3

// footer is warnings, what was left out, what more time buys, what to do and how to
// repeat it.
func footer(e *record.Effects, dir string, level int) block {
	warned := warnings(e).items
	var left, notReached arrange.Ordered
	for _, l := range e.Left {
		switch {
		case wholly(e, l) && l.Reason == record.LeftBudget:
			notReached.Add(l.Workload)
			continue
		case wholly(e, l):
			left.Add(l.Workload)
			continue
		}
		if !slices.ContainsFunc(answerOf(e).Untested, func(u record.Left) bool { return u.Arm == l.Arm }) {
			left.Add(l.Arm)
		}
	}
	var b block
	shown := min(len(warned), shownWarnings)
	if level >= counted {
		shown = 0
	}
	b.items = append(b.items, warned[:shown]...)
	switch n := len(warned) - shown; {
	case n > 0 && shown == 0:
		b.items = append(b.items, item{label: cell{"!", unsure}, text: msg("warnings.all", "n", n)})
	case n > 0:
		b.items = append(b.items, item{label: cell{"!", unsure}, text: msg("warnings.more", "n", n)})
	}
	if len(notReached) > 0 {
		b.items = append(b.items, labelled("label.notreached", msg("left.budget", "loads", list(notReached))))
	}
	if len(left) > 0 {
		b.items = append(b.items, labelled("label.left", msg("left.arms", "arms", list(left)), msg("left.count", "n", len(left))))
	}
	for _, it := range nextItems(e, dir) {
		if level < least || it.label.text != text("label.quieter") {
			b.items = append(b.items, it)
		}
	}
	if len(e.Command) > 0 {
		b.items = append(b.items, labelled("label.repeat", sentence{{command(e.Command), code}}))
	}
	return b
}

// labelled is an item behind a label of the catalogue.
func labelled(label messages.Key, said sentence, less ...sentence) item {
	return item{label: cell{text(label), strong}, text: said, less: less}
}

// matrix is all arms by all loads: the baseline in its own unit, the others as a
// change in percent, then the noise and the windows that count.
func matrix(e *record.Effects, ws []workload) block {
	measured := slices.DeleteFunc(slices.Clone(ws), workload.unmeasuredAt)
	if len(measured) == 0 {
		return block{}
	}
	var b block
	for _, form := range []struct {
		wide, tight bool
	}{{true, false}, {true, true}, {false, false}, {false, true}} {
		b.forms = append(b.forms, []table{matrixTable(measured, form.wide, form.tight)})
	}
	for per := len(measured) - 1; per > 0; per-- {
		for _, wide := range []bool{true, false} {
			var parts []table
			for part := range slices.Chunk(measured, per) {
				parts = append(parts, matrixTable(part, wide, true))
			}
			b.forms = append(b.forms, parts)
		}
	}
	b.notes = []sentence{legend(e, measured)}
	return b
}

func (w workload) unmeasuredAt() bool { return w.Unmeasured() }

func matrixTable(ws []workload, wide, tight bool) table {
	t := table{columns: []column{{head: text("matrix.arm"), flex: 13}}, tight: tight}
	metrics, bases := row{{text("matrix.metric"), faint}}, map[string]row{}
	noise, windows := row{{text("matrix.noise"), faint}}, row{{text("matrix.windows"), faint}}
	var heads, baselines arrange.Ordered
	align := right
	if wide {
		align = interval
	}
	for i, w := range ws {
		t.columns = append(t.columns, column{head: w.Name, align: align})
		m := w.metricWord(w.Primary)
		heads.Add(m.head)
		metrics = append(metrics, cell{m.head, faint})
		baselines.Add(w.Baseline)
		for len(bases[w.Baseline]) <= i {
			bases[w.Baseline] = append(bases[w.Baseline], cell{})
		}
		bases[w.Baseline] = append(bases[w.Baseline], w.value(w.Baseline, w.Primary))
		noise, windows = append(noise, w.noiseCell()), append(windows, w.windowsCell())
	}
	if len(heads) > 1 {
		t.rows = append(t.rows, metrics)
	} else {
		t.columns[0].head = text("matrix.change", "metric", heads[0])
	}
	for _, base := range baselines {
		r := bases[base]
		for len(r) <= len(ws) {
			r = append(r, cell{})
		}
		r[0] = cell{base, strong}
		t.rows = append(t.rows, r)
	}
	for _, arm := range matrixArms(ws) {
		r := row{{arm, strong}}
		for _, w := range ws {
			r = append(r, w.matrixCell(arm, wide))
		}
		t.rows = append(t.rows, r)
	}
	return t.with(noise, windows)
}

func (t table) with(rows ...row) table {
	t.rows = append(t.rows, rows...)
	return t
}

// matrixArms are the arms of all loads: the rungs of those with more rungs first,
// then the arms beside. Baselines and twins have rows of their own kind.
func matrixArms(ws []workload) []string {
	var arms arrange.Ordered
	most := slices.MaxFunc(ws, func(a, b workload) int { return len(a.Ladder) - len(b.Ladder) })
	for _, w := range append([]workload{most}, ws...) {
		for _, arm := range w.Ladder {
			if arm != w.Baseline {
				arms.Add(arm)
			}
		}
	}
	for _, w := range ws {
		for _, arm := range w.Beside {
			arms.Add(arm)
		}
	}
	return arms
}

// The marks of a matrix.
const (
	markMoved   = "*"
	markEqual   = "="
	markInvalid = "x"
	markUnequal = "≠"
	markNoLoss  = "≥"
	markNoise   = "~"
)

func (w workload) matrixCell(arm string, wide bool) cell {
	x, ok := w.PrimaryOf(arm)
	switch {
	case !ok:
		return cell{}
	case x.Typical == nil:
		return cell{none, faint}
	}
	d := quantity.Digits(x.Typical)
	s := quantity.Change(x.Typical.Ratio, d) + " " + quantity.Bounds(x.Typical.Low, x.Typical.High, d)
	if !wide {
		s = around(x.Typical)
	}
	if t := verdictCell(x, 0).tone; !w.InNoise(x) {
		return cell{s + w.mark(x), t}
	}
	return cell{s + w.mark(x), unsure}
}

func (w workload) mark(x record.Effect) string {
	switch {
	case x.Unequal != "":
		return markUnequal
	case w.InNoise(x):
		return markNoise
	case x.Verdict == record.Cost || x.Verdict == record.Gain:
		return markMoved
	case x.Verdict == record.Negligible:
		return markEqual
	case x.Verdict == record.NoLoss:
		return markNoLoss
	case x.Verdict == record.Undecided:
		return ""
	}
	return markInvalid
}

func (w workload) noiseCell() cell {
	s := none
	if w.NoiseFloor > 0 {
		s = quantity.PlusMinus(w.NoiseFloor)
	}
	for _, arm := range w.Twins {
		if x, ok := w.PrimaryOf(arm); ok && (x.Verdict == record.Cost || x.Verdict == record.Gain) {
			return cell{text("matrix.differs", "noise", s), broken}
		}
	}
	return cell{s, plain}
}

// windowsCell is how many windows count, of how many were taken where that is
// known.
func (w workload) windowsCell() cell {
	if w.WindowsOf > 0 {
		return cell{text("matrix.of", "n", w.Windows, "of", w.WindowsOf), plain}
	}
	n := 0
	for _, a := range w.Arm {
		n += a.Windows
	}
	return cell{fmt.Sprint(n), plain}
}

// legend explains the marks that are used.
func legend(e *record.Effects, ws []workload) sentence {
	used, unjudged := map[string]bool{}, false
	var bases, questions arrange.Ordered
	for _, w := range ws {
		bases.Add(w.Baseline)
		if w.Question != "" {
			questions.Add(w.Question)
		}
		for _, arm := range matrixArms(ws) {
			if x, ok := w.PrimaryOf(arm); ok && x.Typical != nil {
				used[w.mark(x)] = true
				unjudged = unjudged || x.Unjudged
			}
		}
	}
	var parts []string
	unmarked := messages.Key("mark.none")
	if unjudged {
		unmarked = "mark.none.unjudged"
	}
	for _, m := range []struct {
		mark string
		key  messages.Key
	}{
		{markMoved, "mark.moved"}, {markEqual, "mark.equal"}, {markNoLoss, "mark.noloss"}, {markNoise, "mark.noise"}, {markInvalid, "mark.invalid"}, {markUnequal, "mark.unequal"}, {"", unmarked},
	} {
		if used[m.mark] {
			parts = append(parts, text(m.key, "margin", quantity.Size(e.Margin)))
		}
	}
	about := text("matrix.legend", "baseline", list(bases))
	if len(questions) > 0 {
		about = text("matrix.legend.question", "baseline", list(bases), "question", list(questions))
	}
	return joined(" ", sentence{{about, faint}}, sentence{{strings.Join(parts, ", "), faint}})
}
