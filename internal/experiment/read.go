package experiment

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/hint"
)

// autoWord stands for 0 where 0 means that tare chooses; allWord for no list
// of arms.
const (
	autoWord = "auto"
	allWord  = "all"
)

// longestText bounds texts, in bytes.
const longestText = 4096

// scalarText returns the text of a scalar as it stands in the file.
func scalarText(name string, n *yaml.Node, s *sink) (string, bool) {
	n = target(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		s.at(n, "%s is %s; want one value", name, kindName(n))
	case n.ShortTag() == "!!null":
		s.at(n, "%s has no value", name)
	case !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge"}, n.ShortTag()):
		s.at(n, "%s has the tag %s, which means nothing here", name, n.ShortTag())
	case strings.IndexFunc(n.Value, unicode.IsControl) >= 0:
		s.at(n, "%s holds a line break or a control character", name)
	case len(n.Value) > longestText:
		s.at(n, "%s is longer than %d bytes", name, longestText)
	default:
		return n.Value, true
	}
	return "", false
}

// target follows an alias, keeping the position of its use.
func target(n *yaml.Node) *yaml.Node {
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

func readText(to *string, name string, least int, n *yaml.Node, s *sink) {
	v, ok := scalarText(name, n, s)
	if ok && len(v) < least {
		s.at(n, "%s is empty", name)
		return
	}
	if ok {
		*to = v
	}
}

func readWord(to *string, name string, words []string, n *yaml.Node, s *sink) {
	v, ok := scalarText(name, n, s)
	if ok && !slices.Contains(words, v) {
		s.at(n, "unknown %s %q%s", name, v, hint.DidYouMean(v, words))
		return
	}
	if ok {
		*to = v
	}
}

// readArms reads a list, or one text with commas, or the word all.
func readArms(to *[]string, among []string, words Words, n *yaml.Node, s *sink) {
	items, ok := listItems("arms", n, s)
	if !ok {
		return
	}
	var arms []string
	for _, item := range items {
		var arm string
		if environment, levels, ok := strings.Cut(target(item).Value, ":"); ok && slices.Contains(among, environment) {
			if err := words.levels(environment, levels); err != nil {
				s.at(item, "arm %q: %v", item.Value, err)
				continue
			}
			s.at(item, "arm %q: one with levels (%s) is named in a file: arms: {NAME: {environment: %q}}", item.Value, levels, item.Value)
			continue
		}
		readWord(&arm, "arm", among, item, s)
		if arm != "" && slices.Contains(arms, arm) {
			s.at(item, "arm %q is named twice", arm)
		}
		arms = append(arms, arm)
	}
	*to = arms
}

// listItems are the items of a list, or of one text with commas.
func listItems(name string, n *yaml.Node, s *sink) ([]*yaml.Node, bool) {
	n = target(n)
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

func readDuration(to *time.Duration, name string, least, most time.Duration, auto bool, n *yaml.Node, s *sink) {
	v, ok := scalarText(name, n, s)
	if !ok {
		return
	}
	if auto && (v == autoWord || v == "0") {
		*to = 0
		return
	}
	d, err := parseDuration(v)
	switch {
	case err != nil:
		s.at(n, "%s: %v", name, err)
	case d < 0:
		s.at(n, "%s: %s must be positive; want %s to %s", name, v, formatDuration(least), formatDuration(most))
	case d < least || d > most:
		s.at(n, "%s %s is out of range; want %s to %s", name, v, formatDuration(least), formatDuration(most))
	default:
		*to = d
	}
}

func readRatio(to *float64, name string, least, most float64, n *yaml.Node, s *sink) {
	v, ok := scalarText(name, n, s)
	if !ok {
		return
	}
	x, err := ParseRatio(v)
	switch {
	case err != nil:
		s.at(n, "%s: %v", name, err)
	case x > most && x <= 100*most && !strings.HasSuffix(v, "%"):
		s.at(n, "%s %s is %s; did you mean \"%s%%\"?", name, v, formatRatio(x), v)
	case x < least || x > most:
		s.at(n, "%s %s is out of range; want %s to %s", name, v, formatRatio(least), formatRatio(most))
	default:
		*to = x
	}
}

func readCount(to *int, name string, most int, n *yaml.Node, s *sink) {
	v, ok := scalarText(name, n, s)
	if !ok {
		return
	}
	if v == autoWord {
		*to = 0
		return
	}
	i, err := strconv.Atoi(v)
	if err != nil || i < 1 || i > most {
		s.at(n, "%s %q is not a whole number from 1 to %d or %s", name, v, most, autoWord)
		return
	}
	*to = i
}

// readCPUs reads a quota; the kernel's least is 1 ms of 100.
func readCPUs(to *float64, n *yaml.Node, s *sink) {
	const least, most = 0.01, 4096
	v, ok := scalarText("cpus", n, s)
	if !ok {
		return
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || !(x >= least && x <= most) {
		s.at(n, "cpus %q is not a number of CPUs from %v to %v, such as 1.5", v, least, most)
		return
	}
	*to = x
}

func readBytes(to *int64, name string, least, most int64, n *yaml.Node, s *sink) {
	v, ok := scalarText(name, n, s)
	if !ok {
		return
	}
	b, err := parseBytes(v)
	switch {
	case err != nil:
		s.at(n, "%s: %v", name, err)
	case b < least || b > most:
		s.at(n, "%s %s is out of range; want %s to %s", name, v, formatBytes(least), formatBytes(most))
	default:
		*to = b
	}
}

func readSeed(to *uint64, n *yaml.Node, s *sink) {
	v, ok := scalarText("seed", n, s)
	if !ok {
		return
	}
	if v == autoWord {
		*to = 0
		return
	}
	seed, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		s.at(n, "seed %q is not a whole number from 0 to 18446744073709551615 or %s", v, autoWord)
		return
	}
	*to = seed
}

func readShare(to *float64, n *yaml.Node, s *sink) {
	v, ok := scalarText("share", n, s)
	if !ok {
		return
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || !(x >= 0.01 && x <= 100) {
		s.at(n, "share %q is not a weight from 0.01 to 100", v)
		return
	}
	*to = x
}
