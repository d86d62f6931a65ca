package csv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/wire/metric"
)

// Columns is what the user says about columns, as --column has it.
type Columns struct {
	named []namedColumn
	rest  bool // *=ignore
}

// namedColumn is one --column NAME=MEANING.
type namedColumn struct {
	name string
	meaning
	used bool
}

// meaning is what a column says.
type meaning struct {
	role   string        // one of the roles of known.txt; empty: a metric, or nothing that is known
	metric metric.Metric // the zero Metric: none
	arm    string        // the arm whose figures these are; empty: the row has it
	unit   *Column       // unit of the figures; nil: the heading has it
	named  bool          // the user named it
	said   bool          // a warning names the column
}

// userRoles are the words behind = in --column, beside the names of metrics.
var userRoles = map[string]string{"ignore": roleRemark, "setting": roleSetting, "arm": roleArm, "load": roleLoad, "run": roleRun, "host": roleHost}

// NewColumns reads the values of --column: NAME=ignore, setting, arm, load, run, host, METRIC or ARM:METRIC.
func NewColumns(words []string) (*Columns, error) {
	c := &Columns{}
	for _, w := range words {
		at := strings.LastIndexByte(w, '=')
		if at < 1 {
			return nil, hint.New(fmt.Errorf("%q does not say what a column is", w), "write NAME=ignore, setting, arm, load, run, host or a metric: --column 'VUs=setting'")
		}
		name, what := strings.TrimSpace(w[:at]), strings.TrimSpace(w[at+1:])
		role, known := userRoles[strings.ToLower(what)]
		switch {
		case name == "*" && role == roleRemark:
			c.rest = true
			continue
		case name == "*":
			return nil, hint.New(fmt.Errorf("* stands for all unknown columns, which can only be ignored"), "--column '*=ignore'")
		case known:
			c.named = append(c.named, namedColumn{name: name, meaning: meaning{role: role, named: true}})
			continue
		}
		m := meaning{named: true}
		if arm, after, ok := strings.Cut(what, ":"); ok {
			m.arm, what = strings.TrimSpace(arm), strings.TrimSpace(after)
		}
		if m.metric = Metric(what); m.metric.Name == "" {
			return nil, hint.New(fmt.Errorf("%q is nothing that a column can be", what),
				"ignore, setting, arm, load, run, host, or a metric: throughput, latency (ms), p95 (ms), bandwidth (MiB/s), time (s)")
		}
		if u := column(what); u.Unit != "" || u.scale != 1 {
			m.unit = &u
		}
		c.named = append(c.named, namedColumn{name: name, meaning: m})
	}
	return c, nil
}

// find returns what the user says about a heading or the name of a row.
func (c *Columns) find(name string) (meaning, bool) {
	for _, same := range []func(a string) bool{
		func(a string) bool { return a == strings.TrimSpace(name) },
		func(a string) bool { return folded(a) == folded(name) },
	} {
		for i := range c.named {
			if n := &c.named[i]; same(n.name) {
				n.used = true
				return n.meaning, true
			}
		}
	}
	return meaning{}, false
}

// Unused returns an error if --column names a column that no table has.
func (c *Columns) Unused() error {
	i := slices.IndexFunc(c.named, func(n namedColumn) bool { return !n.used })
	if i < 0 {
		return nil
	}
	return hint.New(fmt.Errorf("--column: no table has a column %q", c.named[i].name), "write the name as the first row of the table has it")
}

// meanings finds what each column of a table is. A column without a meaning has the zero value.
func (c *Columns) meanings(headings []Column) []meaning {
	out := make([]meaning, len(headings))
	rated := slices.ContainsFunc(headings, func(h Column) bool {
		f := figureOf(h.Name)
		return f.metric(false).Unit == "1/s"
	})
	for i, h := range headings {
		out[i] = c.meaningOf(h.Name, rated)
	}
	settleTime(out, headings)
	return out
}

func (c *Columns) meaningOf(heading string, rated bool) meaning {
	if m, ok := c.find(heading); ok {
		return m
	}
	if strings.TrimSpace(heading) == "" {
		return meaning{}
	}
	if role := roleOf(heading); role != "" && role != roleClock {
		return meaning{role: role}
	}
	if f := figureOf(heading); f.metric(rated).Name != "" {
		return meaning{metric: f.metric(rated), arm: f.arm}
	}
	if f := figureOf(heading); (f.kind == kindRate || f.kind == kindBandwidth) && f.statistic != "" && len(f.rest) == 0 && !f.two {
		return meaning{role: roleRemark, said: true} // the median of a rate is no latency
	}
	return meaning{role: roleOf(heading)}
}

// settleTime makes the time of a report of columns such as "time (s)" beside other metrics, and the figure of
// the time that was asked for, beside a throughput, a column that is not read.
func settleTime(all []meaning, headings []Column) {
	others := slices.ContainsFunc(all, func(m meaning) bool { return m.metric.Name != "" && m.metric != metric.Time })
	for i := range all {
		m := &all[i]
		if m.named || m.metric != metric.Time || !others {
			continue
		}
		if m.metric = (metric.Metric{}); roleOf(headings[i].Name) == roleClock || known().is(roleClock, strings.Trim(inBrackets.ReplaceAllString(folded(headings[i].Name), "$1"), " ")) {
			m.role = roleClock
		} else {
			m.role = roleRemark
		}
	}
}

// means reports whether the column is known.
func (m *meaning) means() bool { return m.role != "" || m.metric.Name != "" }
