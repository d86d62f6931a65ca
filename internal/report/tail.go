package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/tarelab/tare/record"
)

// title is the first line: what ran, where, when, how long, why it ended.
func title(e *record.Effects) sentence {
	name := "tare"
	if e.Experiment != "" {
		name += " " + e.Experiment
	}
	s := sentence{{name, strong}}
	if e.Host.Name != "" {
		s = append(s, cell{" on " + e.Host.Name, plain})
	}
	if h := e.Host.Helper; h != nil {
		s = append(s, cell{", node " + h.Node + " through the node helper", plain})
	}
	if e.Started != "" {
		s = append(s, cell{", " + started(e.Started), plain})
	}
	word, torn := ended(e.Ended)
	t := plain
	if torn {
		t = broken
	}
	if e.Seconds > 0 {
		s = append(s, cell{", " + Duration(e.Seconds), plain})
	}
	return append(s, cell{", ", plain}, cell{word, t})
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
func leftOut(e *record.Effects) block {
	type why struct{ reason, remedy string }
	var order []why
	arms := map[why]*ordered{}
	where := map[why]*ordered{}
	for _, l := range e.Left {
		w := why{l.Reason, l.Remedy}
		if arms[w] == nil {
			order = append(order, w)
			arms[w], where[w] = &ordered{}, &ordered{}
		}
		arms[w].add(l.Arm)
		if l.Workload != "" {
			where[w].add(l.Workload)
		}
	}
	var b block
	for _, w := range order {
		s := sentence{{list(*arms[w]), strong}}
		if in := *where[w]; len(in) > 0 && len(in) < len(e.Workloads) {
			s = append(s, cell{" of " + list(in), plain})
		}
		s = append(append(s, cell{": ", plain}), lined(w.reason)...)
		b.items = append(b.items, item{cell{"-", plain}, remedied(s, w.remedy)})
	}
	return b
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
func warnings(e *record.Effects) block {
	var b block
	type what struct{ arm, text, remedy string }
	var order []what
	where := map[what]*ordered{}
	for _, w := range e.Warnings {
		x := what{w.Arm, w.Text, w.Remedy}
		if where[x] == nil {
			order = append(order, x)
			where[x] = &ordered{}
		}
		if w.Workload != "" {
			where[x].add(w.Workload)
		}
	}
	for _, x := range order {
		var about []string
		for _, s := range []string{list(*where[x]), x.arm} {
			if s != "" {
				about = append(about, s)
			}
		}
		s := sentence{{x.text, plain}}
		if len(about) > 0 {
			s = sentence{{strings.Join(about, ", ") + ": ", plain}, {x.text, plain}}
		}
		b.items = append(b.items, item{cell{"!", unsure}, remedied(s, x.remedy)})
	}
	return b
}

func remedied(s sentence, remedy string) sentence {
	if remedy == "" {
		return s
	}
	return append(s, lineBreak, cell{"→ " + remedy, strong})
}

func repeat(e *record.Effects) block {
	var items []item
	if len(e.Command) > 0 {
		items = append(items, item{cell{"command", plain}, sentence{{command(e.Command), code}}})
	}
	if e.Imported != nil {
		return block{items: append(items, item{cell{"asked for", plain}, say("margin " + size(e.Margin))})}
	}
	items = append(items, item{cell{"seed", plain}, say(fmt.Sprint(e.Seed))})
	if e.Precision > 0 || e.Margin > 0 {
		items = append(items, item{cell{"asked for", plain},
			say("±" + size(e.Precision) + ", margin " + size(e.Margin))})
	}
	if h := host(e.Host); h != "" {
		items = append(items, item{cell{"host", plain}, say(h)})
	}
	if h := e.Host.Helper; h != nil {
		items = append(items, item{cell{"reached", plain}, say(reached(h))})
	}
	return block{items: items}
}

// reached says what stands in for a host that tare was not started on.
func reached(h *record.Helper) string {
	text := fmt.Sprintf("the host is the namespaces of %s on node %s, entered from a privileged pod (image %s), in the control group %s",
		h.Namespaces, h.Node, h.Image, h.Cgroup)
	if h.OOM != 0 {
		text += fmt.Sprintf("; when memory runs out it is chosen as a pod is (oom_score_adj %d)", h.OOM)
	}
	return text
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

func quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./=:,%+@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func host(h record.Host) string {
	var facts []string
	add := func(s string) {
		if s != "" {
			facts = append(facts, s)
		}
	}
	add(h.CPUModel)
	if h.CPUs > 0 {
		add(plural(h.CPUs, "CPU"))
	}
	if h.Memory > 0 {
		add(Bytes(float64(h.Memory)))
	}
	add(h.Virtual)
	if h.Kernel != "" {
		add("kernel " + h.Kernel)
	}
	add(h.Arch)
	if h.Cgroup != "" {
		add("cgroup " + h.Cgroup)
	}
	if h.Governor != "" {
		add("governor " + h.Governor)
	}
	add(h.Distro)
	return strings.Join(facts, ", ")
}
