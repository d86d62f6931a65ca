package experiment

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// autoWord is written for 0 where 0 means that tare chooses, allWord for an empty list of arms.
const (
	autoWord = "auto"
	allWord  = "all"
)

// longestText is the maximum length of a text, in bytes.
const longestText = 4096

// scalarText returns the text of a scalar as the file has it; false: it is none, and a problem
// was added.
func scalarText(name string, n *yaml.Node, s *sink) (string, bool) {
	n = resolveAlias(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		s.addProblem(n, "%s is %s; want one value", name, kindName(n))
	case n.ShortTag() == "!!null":
		s.addProblem(n, "%s has no value", name)
	case !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge"}, n.ShortTag()):
		s.addProblem(n, "%s has the tag %s, which means nothing here", name, n.ShortTag())
	case strings.IndexFunc(n.Value, unicode.IsControl) >= 0:
		s.addProblem(n, "%s holds a line break or a control character", name)
	case len(n.Value) > longestText:
		s.addProblem(n, "%s is longer than %d bytes", name, longestText)
	default:
		return n.Value, true
	}
	return "", false
}

// resolveAlias returns the node that an alias stands for, with the position of the alias.
func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.AliasNode || n.Alias == nil {
		return n
	}
	to := *n.Alias
	to.Line, to.Column = n.Line, n.Column
	return &to
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return "empty"
		}
		return "a single value"
	}
	return "something else"
}

// readValue reads one value. The errors of parse must name the key.
func readValue[V any](to *V, name string, parse func(string) (V, error), n *yaml.Node, s *sink) {
	text, ok := scalarText(name, n, s)
	if !ok {
		return
	}
	v, err := parse(text)
	if err != nil {
		s.addProblem(n, "%v", err)
		return
	}
	*to = v
}

func readWord(to *string, name string, words []string, n *yaml.Node, s *sink) {
	readValue(to, name, oneOf(name, words), n, s)
}

// readArms reads the names of arms: a list, a text with commas, or the word all.
func readArms(to *[]string, among []string, words Words, n *yaml.Node, s *sink) {
	items, ok := listItems("arms", n, s)
	if !ok {
		return
	}
	var arms []string
	for _, item := range items {
		var arm string
		if environment, levels, ok := strings.Cut(resolveAlias(item).Value, ":"); ok && slices.Contains(among, environment) {
			if err := words.levels(environment, levels); err != nil {
				s.addProblem(item, "arm %q: %v", item.Value, err)
				continue
			}
			s.addProblem(item, "arm %q: one with levels (%s) is named in a file: arms: {NAME: {environment: %q}}", item.Value, levels, item.Value)
			continue
		}
		readWord(&arm, "arm", among, item, s)
		if arm != "" && slices.Contains(arms, arm) {
			s.addProblem(item, "arm %q is named twice", arm)
		}
		arms = append(arms, arm)
	}
	*to = arms
}

// listItems are the items of a list, or of a text with commas; none for null and the word all.
func listItems(name string, n *yaml.Node, s *sink) ([]*yaml.Node, bool) {
	n = resolveAlias(n)
	if n.Kind == yaml.SequenceNode {
		return n.Content, true
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil, true
	}
	v, ok := scalarText(name, n, s)
	if !ok || v == allWord {
		return nil, ok
	}
	var items []*yaml.Node
	for _, part := range strings.Split(v, ",") {
		item := scalar(strings.TrimSpace(part))
		item.Line, item.Column = n.Line, n.Column
		items = append(items, item)
	}
	return items, true
}
