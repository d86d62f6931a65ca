package experiment

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/loads/workload"
)

// YAML writes the complete experiment, with every default. Parse reads it back as the same
// experiment.
func (e *Experiment) YAML() []byte { return e.Annotated(Words{}) }

// Annotated is YAML with the help of every parameter beside it.
func (e *Experiment) Annotated(words Words) []byte {
	if len(e.Neighbours) == 0 {
		words.Mechanisms = nil // nothing to be protected from
	}
	root := write(e, experimentKeys(words), true)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		// The nodes hold nothing but texts and numbers that were checked.
		panic("experiment: " + err.Error())
	}
	return b.Bytes()
}

// write makes a mapping of all keys, with their help if wanted.
func write[T any](x *T, keys []key[T], help bool) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, k := range keys {
		name, v := scalar(k.name), k.write(x)
		if v == nil {
			continue // nothing to be said
		}
		if help {
			explain(name, v, k.help)
		}
		m.Content = append(m.Content, name, v)
	}
	return m
}

// explain puts a short help beside an entry and a long one above it.
func explain(key, value *yaml.Node, help string) {
	const beside, above = 60, 90
	block := value.Kind == yaml.MappingNode && value.Style != yaml.FlowStyle
	if help == "" || len(help) <= beside && !block {
		value.LineComment = help
		return
	}
	var lines []string
	line := "#"
	for _, word := range strings.Fields(help) {
		if len(line)+1+len(word) > above {
			lines = append(lines, line)
			line = "#"
		}
		line += " " + word
	}
	key.HeadComment = strings.Join(append(lines, line), "\n")
}

// writeWorkloads explains each key once, at its first entry.
func writeWorkloads(e *Experiment, words Words) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	explained := map[string]bool{}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		known := words
		if explained[w.Kind] {
			known = Words{Kinds: map[string][]workload.Param{w.Kind: withoutHelp(words.Kinds[w.Kind])}}
		}
		explained[w.Kind] = true
		m.Content = append(m.Content, scalar(w.Name), write(w, workloadKeys(known), i == 0))
	}
	return m
}

func withoutHelp(params []workload.Param) []workload.Param {
	out := slices.Clone(params)
	for i := range out {
		out[i].Help = ""
	}
	return out
}

// writeParams keeps the order of the vocabulary. Parameters that it does not know follow by name.
func writeParams(w *Workload, words Words) *yaml.Node {
	kind, _ := words.kind(w.Kind)
	return paramsNode(w.Params, kind)
}

func paramsNode(params map[string]string, kind kind) *yaml.Node {
	order := kind.paramNames()
	var rest []string
	for name := range params {
		if !slices.Contains(order, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range append(order, rest...) {
		value, ok := params[name]
		if !ok {
			continue
		}
		key, v := scalar(name), scalar(value)
		p, _ := kind.param(name)
		explain(key, v, p.Help)
		m.Content = append(m.Content, key, v)
	}
	if len(m.Content) == 0 {
		m.Style = yaml.FlowStyle
	}
	return m
}

// bare matches texts that mean the same with and without quotes.
var bare = regexp.MustCompile(`^[A-Za-z0-9/][A-Za-z0-9_./%+=-]*$`)

// scalar makes a node that is read back as exactly this text.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if !bare.MatchString(text) || n.ShortTag() == "!!null" {
		n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
	}
	return n
}

// formatAuto writes autoWord for 0.
func formatAuto[V int | uint64](n V) string {
	if n == 0 {
		return autoWord
	}
	return fmt.Sprint(n)
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func armsNode(arms []string) *yaml.Node {
	if len(arms) == 0 {
		return scalar(allWord)
	}
	return listNode(arms)
}

// listNode writes a list on one line.
func listNode(arms []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, a := range arms {
		n.Content = append(n.Content, scalar(a))
	}
	return n
}
