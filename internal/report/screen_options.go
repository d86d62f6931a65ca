package report

import (
	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// options is the table of the arms that are compared with another arm than the baseline, by loads.
func (in Language) options(e *record.Effects, t record.AnswerTable) block {
	type pair struct{ arm, other string }
	var loads arrange.Ordered
	var pairs arrange.Grouped[pair]
	cells := map[pair]map[string]figure{}
	for _, x := range t.Options {
		p := pair{x.Arm, x.Baseline}
		loads.Add(x.Workload)
		pairs.Add(p)
		if cells[p] == nil {
			cells[p] = map[string]figure{}
		}
		cells[p][x.Workload] = in.effectWith(in.workloadOf(e, x.Workload), &x)
	}
	if len(loads) == 0 {
		return block{}
	}
	out := table{columns: []column{{head: in.text("head.arm"), flex: 12}, {head: in.text("options.other"), flex: 12}}}
	for _, load := range loads {
		out.columns = append(out.columns, column{head: load, align: right})
	}
	for _, p := range pairs.Keys {
		line := row{cell{p.arm, strong}, cell{p.other, plain}}
		for _, load := range loads {
			line = append(line, cells[p][load])
		}
		out.rows = append(out.rows, line)
	}
	return block{items: []item{{text: in.msg("options.asked")}}, tables: []table{out}}
}
