package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/record"
)

// ParseLimit reads the largest cost of a metric that passes: 5% is 5 % less throughput or 5 % more latency.
func (w Words) ParseLimit(metric, size string) (record.Limit, error) {
	most, err := ParseRatio(size)
	switch {
	case err != nil:
		return record.Limit{}, fmt.Errorf("%s: %w", metric, err)
	case most < 0:
		return record.Limit{}, fmt.Errorf("the limit of %s is negative: a limit is the largest cost that passes, as 5%%", metric)
	case most >= 1 && !strings.HasSuffix(size, "%"):
		return record.Limit{}, fmt.Errorf("%s: %s is %s00%%; did you mean %q?", metric, size, size, size+"%")
	}
	if w.Metric != nil {
		metric = w.Metric(metric)
	}
	return record.Limit{Metric: metric, Most: most}, nil
}

// readLimits reads the key limits. Limits that are there already stay, unless they are of the same metric.
func readLimits(e *Experiment, n *yaml.Node, words Words, s *sink) {
	e.Limits = nil
	for _, p := range pairs("limits", n, s) {
		before := len(e.Limits)
		e.applyLimit(p.name, p.value, words, s)
		if len(e.Limits) == before && len(s.list) == 0 {
			s.addProblem(p.key, "two limits for %s", p.name)
		}
	}
}

// applyLimit sets the limit of one metric.
func (e *Experiment) applyLimit(metric string, n *yaml.Node, words Words, s *sink) {
	size, ok := scalarText("the limit of "+metric, n, s)
	if !ok {
		return
	}
	l, err := words.ParseLimit(metric, size)
	if err != nil {
		s.addProblem(n, "%v", err)
		return
	}
	if i := slices.IndexFunc(e.Limits, func(x record.Limit) bool { return x.Metric == l.Metric }); i >= 0 {
		e.Limits[i] = l
		return
	}
	e.Limits = append(e.Limits, l)
}

func readUntil(text string) (bool, error) {
	_, err := oneOf("until", []string{UntilPrecise, UntilDecided})(text)
	return text == UntilDecided, err
}

// percent writes a ratio as the percentage that ParseRatio reads as exactly the same ratio.
func percent(x float64) string {
	whole, part, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	part += strings.Repeat("0", max(0, 2-len(part)))
	text := strings.TrimLeft(whole+part[:2], "0")
	if text == "" {
		text = "0"
	}
	if part = part[2:]; part != "" {
		text += "." + part
	}
	return text + "%"
}

func writeLimits(limits []record.Limit) *yaml.Node {
	if len(limits) == 0 {
		return nil
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, l := range limits {
		m.Content = append(m.Content, scalar(l.Metric), scalar(percent(l.Most)))
	}
	return m
}
