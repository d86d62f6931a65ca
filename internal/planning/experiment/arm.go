package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
)

// ArmSpec is one combination of factors, under a name that the experiment gives it.
type ArmSpec struct {
	Name        string
	Environment string // one of Words.Arms, optionally with a colon and levels
	Neighbour   string // name of a neighbour of the experiment; empty: none
	// Isolation lists the mechanisms that protect the arm from its neighbour, each a name or
	// "name=level"; empty: none.
	Isolation []string
	Volume    string // empty: that of the experiment
	// Settings of the arm's container; empty: the environment's default.
	Network, Seccomp, Capabilities, AppArmor string
	// Limits of the arm; zero: none. CPUs is a quota in CPU seconds per second, Memory in
	// bytes, CPUSet a list of CPUs such as "0-3,6".
	CPUs   float64
	Memory int64
	CPUSet string
	// Image is an image of the engine; empty: the host's root file system.
	Image string
	// Set overrides parameters of the workload.
	Set map[string]string
}

// armKeys are the keys of one arm.
func armKeys(words Words) []key[ArmSpec] {
	type a = ArmSpec
	return []key[a]{
		environmentKey("", words.Arms, words, func(x *a) *string { return &x.Environment }),
		optional(value("neighbour", "", words.neighbour, asIs, func(x *a) *string { return &x.Neighbour }),
			func(x *a) bool { return x.Neighbour != "" }),
		optional(key[a]{
			"isolation", "",
			func(x *a, n *yaml.Node, s *sink) { readIsolation(&x.Isolation, n, words, s) },
			func(x *a) *yaml.Node {
				if len(x.Isolation) == 1 {
					return scalar(x.Isolation[0])
				}
				return listNode(x.Isolation)
			},
		}, func(x *a) bool { return len(x.Isolation) > 0 }),
		optional(volumeKey("", words, func(x *a) *string { return &x.Volume }), func(x *a) bool { return x.Volume != "" }),
		optional(word("network", "", words.Networks, func(x *a) *string { return &x.Network }), func(x *a) bool { return x.Network != "" }),
		optional(word("seccomp", "", words.Seccomp, func(x *a) *string { return &x.Seccomp }), func(x *a) bool { return x.Seccomp != "" }),
		optional(word("capabilities", "", words.Capabilities, func(x *a) *string { return &x.Capabilities }), func(x *a) bool { return x.Capabilities != "" }),
		optional(text("apparmor", "", 1, func(x *a) *string { return &x.AppArmor }), func(x *a) bool { return x.AppArmor != "" }),
		optional(value("cpus", "", quota, formatNumber, func(x *a) *float64 { return &x.CPUs }), func(x *a) bool { return x.CPUs != 0 }),
		optional(bytesKey("memory", "", 16<<20, 1<<50, func(x *a) *int64 { return &x.Memory }), func(x *a) bool { return x.Memory != 0 }),
		optional(text("cpuset", "", 1, func(x *a) *string { return &x.CPUSet }), func(x *a) bool { return x.CPUSet != "" }),
		optional(text("image", "", 1, func(x *a) *string { return &x.Image }), func(x *a) bool { return x.Image != "" }),
		optional(key[a]{
			"set", "",
			func(x *a, n *yaml.Node, s *sink) { readSet(x, n, s) },
			func(x *a) *yaml.Node { return setNode(x.Set) },
		}, func(x *a) bool { return len(x.Set) > 0 }),
	}
}

// environmentKey is the key environment: one of the names in among, optionally with a colon
// and levels.
func environmentKey[T any](help string, among []string, words Words, field func(*T) *string) key[T] {
	return value("environment", help, func(text string) (string, error) {
		name, levels, has := strings.Cut(text, ":")
		if _, err := oneOf("environment", among)(name); err != nil {
			return "", err
		}
		if has {
			if err := words.levels(name, levels); err != nil {
				return "", fmt.Errorf("environment %s: %w", name, err)
			}
		}
		return text, nil
	}, asIs, field)
}

// optional makes a key that is written only where given says so.
func optional[T any](k key[T], given func(*T) bool) key[T] {
	write := k.write
	k.write = func(x *T) *yaml.Node {
		if !given(x) {
			return nil
		}
		return write(x)
	}
	return k
}

// noneWord means no neighbour, and no isolation.
const noneWord = "none"

// readArmsOf reads the key arms. A mapping names arms. A list chooses among the arms that are
// named already, of which those in keep stay in any case, or else among environments.
func readArmsOf(named *[]ArmSpec, chosen *[]string, keep []string, n *yaml.Node, words Words, s *sink) {
	if target(n).Kind == yaml.MappingNode {
		*named, *chosen = readNamed(n, words, s), nil
		return
	}
	if len(*named) == 0 {
		readArms(chosen, words.armWords(), words, n, s)
		return
	}
	var names []string
	readArms(&names, armNamesOf(*named), words, n, s)
	if len(names) > 0 {
		*named = slices.DeleteFunc(slices.Clone(*named), func(a ArmSpec) bool {
			return !slices.Contains(names, a.Name) && !slices.Contains(keep, a.Name)
		})
	}
}

func readNamed(n *yaml.Node, words Words, s *sink) []ArmSpec {
	var arms []ArmSpec
	for _, p := range pairs("arms", n, s) {
		if !workloadName.MatchString(p.name) || p.name == twinWord {
			s.badName(p.key, "arm", p.name, twinWord)
			continue
		}
		a := ArmSpec{Name: p.name, Environment: Baseline}
		if t := target(p.value); t.Kind != yaml.ScalarNode || t.ShortTag() != "!!null" {
			read(&a, armKeys(words), "arm "+p.name, p.value, s)
		}
		s.remember("arms."+p.name, p.key)
		arms = append(arms, a.tidy())
	}
	if len(arms) == 0 && target(n).Kind == yaml.MappingNode && len(s.list) == 0 {
		s.at(n, "no arms; name at least one, or leave arms: out")
	}
	return arms
}

// neighbour accepts the name of a neighbour of the experiment, or none.
func (w Words) neighbour(text string) (string, error) {
	if text != noneWord && len(w.neighbours) == 0 {
		return "", fmt.Errorf("neighbour %q is not defined: define it under neighbours: {%s: {kind: %s}}", text, text, strings.Join(w.neighbourKinds(), " or "))
	}
	return oneOf("neighbour", append([]string{noneWord}, w.neighbours...))(text)
}

// twinWord is reserved: every experiment has an arm of this name, the baseline again.
const twinWord = "twin"

// tidy replaces the word none by an empty neighbour.
func (a ArmSpec) tidy() ArmSpec {
	if a.Neighbour == noneWord {
		a.Neighbour = ""
	}
	return a
}

// isolated says whether the arm has a mechanism of isolation.
func (a ArmSpec) isolated() bool {
	return slices.ContainsFunc(a.Isolation, func(name string) bool { return name != noneWord })
}

func armNamesOf(arms []ArmSpec) []string {
	var names []string
	for _, a := range arms {
		names = append(names, a.Name)
	}
	return names
}

// readIsolation reads one mechanism or a list.
func readIsolation(to *[]string, n *yaml.Node, words Words, s *sink) {
	items, ok := listItems("isolation", n, s)
	if !ok {
		return
	}
	var all []string
	for _, item := range items {
		v, ok := scalarText("isolation", item, s)
		if !ok {
			continue
		}
		if err := words.isolation(v); err != nil {
			s.at(item, "%v", err)
			continue
		}
		name, _, _ := strings.Cut(v, "=")
		switch {
		case slices.ContainsFunc(all, func(have string) bool { h, _, _ := strings.Cut(have, "="); return h == name }):
			s.at(item, "isolation %q is named twice", name)
		case name == noneWord && len(items) > 1:
			s.at(item, "isolation %q beside others", noneWord)
		case name != noneWord:
			all = append(all, v)
		}
	}
	*to = all
}

// readSet reads an arm's parameters without checking them: Experiment.check does, which knows
// the workloads.
func readSet(a *ArmSpec, n *yaml.Node, s *sink) {
	a.Set = nil
	for _, p := range pairs("set", n, s) {
		v, ok := scalarText(p.name, p.value, s)
		if !ok {
			continue
		}
		if a.Set == nil {
			a.Set = map[string]string{}
		}
		a.Set[p.name] = v
		s.remember("arms."+a.Name+".set."+p.name, p.key)
	}
}

func setNode(set map[string]string) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		m.Content = append(m.Content, scalar(name), scalar(set[name]))
	}
	return m
}

// writeArms writes the named arms, each on a line of its own, or the chosen names.
func writeArms(named []ArmSpec, chosen []string, words Words) *yaml.Node {
	if len(named) == 0 {
		return armsNode(chosen)
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	for i := range named {
		v := write(&named[i], armKeys(words), false)
		v.Style = yaml.FlowStyle
		m.Content = append(m.Content, scalar(named[i].Name), v)
	}
	return m
}

// applyArm sets one key of a named arm.
func applyArm(arms []ArmSpec, path []string, n *yaml.Node, words Words, s *sink) {
	i := slices.IndexFunc(arms, func(a ArmSpec) bool { return a.Name == path[0] })
	keys := armKeys(words)
	switch {
	case i < 0:
		s.at(n, "no arm %q%s", path[0], hint.DidYouMean(path[0], armNamesOf(arms)))
	case len(path) == 3 && path[1] == "set":
		arms[i].Set = maps.Clone(arms[i].Set)
		if arms[i].Set == nil {
			arms[i].Set = map[string]string{}
		}
		if v, ok := scalarText(path[2], n, s); ok {
			arms[i].Set[path[2]] = v
		}
	case len(path) != 2 || path[1] == "set":
		s.at(n, "no such path; want arms.ARM.KEY or arms.ARM.set.PARAM")
	default:
		k, ok := find(keys, path[1])
		if !ok {
			s.at(n, "an arm has no %q%s", path[1], hint.DidYouMean(path[1], names(keys)))
			return
		}
		k.read(&arms[i], n, s)
		arms[i] = arms[i].tidy()
	}
}
