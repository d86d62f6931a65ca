package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// title is the first line: what ran, where, when, how long, why it ended.
func (in Language) title(e *record.Effects) sentence {
	s := in.msg("title.name", "experiment", strings.TrimRight("tare "+e.Experiment, " "))
	if names := programs(e.Programs); len(names) > 0 {
		s = append(s, in.msg("title.programs", "programs", in.commas(names...))...)
	}
	switch {
	case e.Host.Name != "" && e.Host.CPUs > 0:
		s = append(s, in.msg("title.host.cpus", "host", e.Host.Name, "cpus", in.number("count.cpus", e.Host.CPUs))...)
	case e.Host.Name != "":
		s = append(s, in.msg("title.host", "host", e.Host.Name)...)
	}
	if h := e.Host.Helper; h != nil {
		s = append(s, in.msg("title.helper", "node", h.Node)...)
	}
	if e.Started != "" {
		s = in.joined("join.comma", s, say(started(e.Started)))
	}
	word, torn := in.ended(e.Ended)
	t := plain
	if torn {
		t = broken
	}
	if e.Seconds > 0 {
		s = in.joined("join.comma", s, say(quantity.Duration(e.Seconds)))
	}
	if !torn {
		return s
	}
	return in.joined("join.comma", s, sentence{{word, t}})
}

// programs are the servers and clients with their versions, each once.
func programs(all []record.Program) (names []string) {
	for _, p := range all {
		if name := p.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// adopted says which settings of the user's server the arms have otherwise, and how many not at all.
func (in Language) adopted(all []record.Adopted) sentence {
	var changed, left []string
	for _, a := range all {
		switch {
		case a.Used != "":
			text := in.text("adopted.one", "name", a.Name, "used", a.Used, "value", a.Value)
			if !slices.Contains(changed, text) {
				changed = append(changed, text)
			}
		case !slices.Contains(left, a.Name):
			left = append(left, a.Name)
		}
	}
	var parts []string
	if len(changed) > 0 {
		parts = append(parts, in.commas(changed...))
	}
	if len(left) > 0 {
		parts = append(parts, in.number("adopted.left", len(left)))
	}
	if len(parts) == 0 {
		return nil
	}
	return in.msg("adopted", "what", in.semicolons(parts...))
}

// started leaves the seconds out; what it cannot read it prints as it is.
func started(s string) string {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// leftOut names what was left out; arms with the same reason are one entry.
func (in Language) leftOut(e *record.Effects) block {
	type why struct{ reason, remedy record.Said }
	var arms, where arrange.Grouped[why]
	for _, l := range e.Left {
		w := why{l.Reason, l.Remedy}
		if wholly(e, l) {
			arms.Add(w, l.Workload)
			continue
		}
		arms.Add(w, l.Arm)
		if l.Workload != "" {
			where.Add(w, l.Workload)
		}
	}
	var b block
	for w, names := range arms.All() {
		s := sentence{{in.list(names), strong}}
		if loads := where.Of(w); len(loads) > 0 && len(loads) < len(e.Workloads) {
			s = append(s, in.msg("left.of", "loads", in.list(loads))...)
		}
		s = in.msg("join.colon", "subject", s, "what", lined(in.said(w.reason)))
		b.items = append(b.items, item{label: cell{"-", plain}, text: in.remedied(s, w.remedy)})
	}
	return b
}

// wholly says that all of a workload was left out: no arm is named, or the baseline, which
// stands for all arms.
func wholly(e *record.Effects, l record.Left) bool {
	return l.Arm == "" || slices.ContainsFunc(e.Workloads, func(w record.WorkloadResult) bool { return w.Name == l.Workload && w.Baseline == l.Arm })
}

// lined keeps the lines of a reason, the last ones of a log for example.
func lined(text string) (s sentence) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			s = append(s, lineBreak)
		}
		s = append(s, cell{strings.TrimSpace(line), plain})
	}
	return s
}

// warnings are told once where several workloads have the same.
func (in Language) warnings(e *record.Effects) block {
	var b block
	type what struct {
		arm          string
		text, remedy record.Said
	}
	var where arrange.Grouped[what]
	for _, w := range e.Warnings {
		x := what{w.Arm, w.Text, w.Remedy}
		where.Add(x)
		if w.Workload != "" {
			where.Add(x, w.Workload)
		}
	}
	for x, loads := range where.All() {
		var about []string
		for _, s := range []string{in.list(loads), x.arm} {
			if s != "" {
				about = append(about, s)
			}
		}
		s := say(in.said(x.text))
		if len(about) > 0 {
			s = in.msg("join.colon", "subject", in.commas(about...), "what", s)
		}
		b.items = append(b.items, item{label: cell{"!", unsure}, text: in.remedied(s, x.remedy)})
	}
	return b
}

func (in Language) remedied(s sentence, remedy record.Said) sentence {
	if remedy.IsZero() {
		return s
	}
	return append(s, lineBreak, cell{"→ " + in.said(remedy), strong})
}

func (in Language) repeat(e *record.Effects) block {
	var items []item
	if len(e.Command) > 0 {
		items = append(items, item{label: cell{in.text("label.command"), plain}, text: sentence{{command(e.Command), code}}})
	}
	if e.Imported != nil {
		return block{items: append(items, item{label: cell{in.text("label.asked"), plain}, text: in.msg("asked.margin", "margin", quantity.Size(e.Margin))})}
	}
	items = append(items, item{label: cell{in.text("label.seed"), plain}, text: say(fmt.Sprint(e.Seed))})
	if e.Precision > 0 || e.Margin > 0 {
		items = append(items, item{label: cell{in.text("label.asked"), plain}, text: in.msg("asked.both", "precision", quantity.Size(e.Precision), "margin", quantity.Size(e.Margin))})
	}
	for _, s := range in.baselines(e) {
		items = append(items, item{label: cell{in.text("label.baseline"), plain}, text: s})
	}
	if h := in.host(e.Host); h != "" {
		items = append(items, item{label: cell{in.text("label.host"), plain}, text: say(h)})
	}
	if h := e.Host.Helper; h != nil {
		items = append(items, item{label: cell{in.text("label.reached"), plain}, text: say(in.reached(h))})
	}
	return block{items: items}
}

// baselines says what the baselines run as, each kind once. Older results do not know.
func (in Language) baselines(e *record.Effects) (all []sentence) {
	var seen []string
	for _, w := range e.Workloads {
		for _, a := range e.Arms {
			if a.Workload != w.Name || a.Arm != w.Baseline || slices.Contains(seen, a.Arm+" "+a.RunsAs) {
				continue
			}
			seen = append(seen, a.Arm+" "+a.RunsAs)
			switch a.RunsAs {
			case record.AsService:
				all = append(all, in.msg("runas.service", "arm", a.Arm))
			case record.AsSession:
				all = append(all, in.msg("runas.session", "arm", a.Arm))
			case record.AsProcess:
				all = append(all, in.msg("runas.process", "arm", a.Arm))
			}
		}
	}
	return all
}

// reached says what stands in for a host that tare was not started on.
func (in Language) reached(h *record.Helper) string {
	s := in.text("reached", "namespaces", h.Namespaces, "node", h.Node, "image", h.Image, "group", h.Cgroup)
	if h.OOM != 0 {
		s += in.text("reached.oom", "adj", h.OOM)
	}
	return s
}

// command is the command line, quoted for a shell.
func command(args []string) string {
	var words []string
	if first := args[0]; first != "tare" && !strings.HasSuffix(first, "/tare") {
		words = append(words, "tare")
	}
	for _, a := range args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}

func quote(s string) string { return hint.Quote(s) }

func (in Language) host(h record.Host) string {
	var facts []string
	add := func(s string) {
		if s != "" {
			facts = append(facts, s)
		}
	}
	add(h.CPUModel)
	if h.CPUs > 0 {
		add(in.number("count.cpus", h.CPUs))
	}
	if h.Memory > 0 {
		add(quantity.Bytes(float64(h.Memory)))
	}
	add(in.static(h.Virtual))
	if h.Kernel != "" {
		add(in.text("host.kernel", "version", h.Kernel))
	}
	add(h.Arch)
	if h.Cgroup != "" {
		add(in.text("host.cgroup", "version", h.Cgroup))
	}
	if h.Governor != "" {
		add(in.text("host.governor", "name", h.Governor))
	}
	add(h.Distro)
	return in.commas(facts...)
}
