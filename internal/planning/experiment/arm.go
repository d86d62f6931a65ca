package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/record"
)

// ArmSpec is an arm that an experiment defines under a name: an environment, a neighbour, isolation, a
// volume, settings of the container, limits and parameters.
type ArmSpec struct {
	Name        string
	Environment string // one of Words.Arms, optionally with a colon and levels
	Neighbour   string // name of a neighbour of the experiment; empty: none
	// Isolation lists the mechanisms that protect the arm from its neighbour, each a name or
	// "name=level"; empty: none.
	Isolation      []string
	record.Options // an empty Volume is that of the experiment
	// Against is another arm with which this one is compared besides the baseline; empty: none.
	Against string
	// Set overrides parameters of the workload.
	Set map[string]string
}

// armKeys are the keys of one named arm. A file has each arm on one line, without help.
func armKeys(words Words) []key[ArmSpec] {
	type a = ArmSpec
	return []key[a]{
		environmentKey("where it runs, with options after a colon", words.Arms, words, func(x *a) *string { return &x.Environment }),
		sparse(value("neighbour", "name of the neighbour beside it", nameShape([]string{noneWord}), words.neighbour, asIs,
			func(x *a) *string { return &x.Neighbour })),
		{
			"isolation", "a mechanism that protects the arm from its neighbour, or a list of them",
			func(x *a, n *yaml.Node, s *sink) { readIsolation(&x.Isolation, n, words, s) },
			func(x *a) *yaml.Node { return isolationNode(x.Isolation) },
			isolationShape(words), nil,
		},
		sparse(volumeKey("what is under the data, as at the top", words, func(x *a) *string { return &x.Volume })),
		sparse(word("network", "network of the container", words.Networks, func(x *a) *string { return &x.Network })),
		sparse(word("seccomp", "seccomp profile of the container", words.Seccomp, func(x *a) *string { return &x.Seccomp })),
		sparse(word("capabilities", "capabilities of the container", words.Capabilities, func(x *a) *string { return &x.Capabilities })),
		sparse(text("apparmor", "a loaded AppArmor profile, default or unconfined", 1, func(x *a) *string { return &x.AppArmor })),
		sparse(value("cpus", "CPU quota, as of docker run --cpus", numberShape(leastQuota, mostQuota), quota("cpus"), formatNumber,
			func(x *a) *float64 { return &x.CPUs })),
		sparse(value("burst", "unused quota that is saved up, in CPUs", numberShape(leastQuota, mostQuota), quota("burst"), formatNumber,
			func(x *a) *float64 { return &x.Burst })),
		sparse(value("weight", "cpu.weight: 100 is the kernel's default", wholeShape(1, mostWeight), weight, strconv.Itoa,
			func(x *a) *int { return &x.Weight })),
		sparse(bytesKey("memory", "memory limit", 16<<20, 1<<50, func(x *a) *int64 { return &x.MemoryBytes })),
		sparse(text("cpuset", "CPUs: 0-3,6", 1, func(x *a) *string { return &x.CPUSet })),
		sparse(text("image", "an image that the engine has, or a file for chroot; needs a bound volume", 1, func(x *a) *string { return &x.Image })),
		sparse(text("against", "another arm to compare it with", 1, func(x *a) *string { return &x.Against })),
		{
			"set", "parameters of the workload for this arm",
			func(x *a, n *yaml.Node, s *sink) { readSet(x, n, s) },
			func(x *a) *yaml.Node { return setNode(x.Set) },
			shape{"type": "object", "additionalProperties": textShape(0)}, nil,
		},
	}
}

// Settings are the arm's container settings, limits and volume, each a key with its value as in a file.
func (a ArmSpec) Settings() (all []record.Setting) {
	besides := []string{"environment", "neighbour", "isolation", "against", "set"}
	for _, k := range armKeys(Words{}) {
		if n := k.write(&a); n != nil && !slices.Contains(besides, k.name) {
			all = append(all, record.Setting{Name: k.name, Got: n.Value})
		}
	}
	return all
}

// SettingTitle is the title of a setting of an arm.
func SettingTitle(s record.Setting) record.Said {
	switch s.Name {
	case "volume":
		return record.Say("set_volume", "volume", s.Got)
	case "network":
		return record.Say("set_network", "network", s.Got)
	case "image":
		return record.Say("set_image", "image", s.Got)
	case "cpus":
		return record.Say("set_cpus", "cpus", number(s.Got))
	case "burst":
		return record.Say("set_burst", "cpus", number(s.Got))
	case "weight":
		return record.Say("set_weight", "weight", number(s.Got))
	case "memory":
		return record.Say("set_memory", "memory", s.Got)
	}
	return record.Say("set_name", "name", s.Name, "value", s.Got)
}

// number is the number that a text is, or the text.
func number(text string) any {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	return text
}

// environmentKey is the key environment. Its value is NAME or NAME:LEVELS, with a name from among.
func environmentKey[T any](help string, among []string, words Words, field func(*T) *string) key[T] {
	return value("environment", help, levelledShape(among), func(text string) (string, error) {
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

// noneWord as a neighbour or as isolation means that there is none.
const noneWord = "none"

// readArmsKey reads the key arms. A mapping defines named arms. A list chooses among the named arms that
// were read before, and keeps those in keep although the list does not have them. Without named arms a
// list chooses environments.
func readArmsKey(named *[]ArmSpec, chosen *[]string, keep []string, n *yaml.Node, words Words, s *sink) {
	if resolveAlias(n).Kind == yaml.MappingNode {
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

// readNamed reads a mapping that defines arms by name.
func readNamed(n *yaml.Node, words Words, s *sink) []ArmSpec {
	var arms []ArmSpec
	for _, p := range pairs("arms", n, s) {
		if !workloadName.MatchString(p.name) || p.name == twinWord {
			s.badName(p.key, "arm", p.name, twinWord)
			continue
		}
		a := ArmSpec{Name: p.name, Environment: Baseline}
		if t := resolveAlias(p.value); t.Kind != yaml.ScalarNode || t.ShortTag() != "!!null" {
			readMapping(&a, armKeys(words), "arm "+p.name, p.value, s)
		}
		s.remember("arms."+p.name, p.key)
		arms = append(arms, a.withoutNone())
	}
	for _, a := range arms {
		if a.Against != "" && a.Against == a.Name {
			s.addProblem(s.nodeOf("arms."+a.Name), "arm %s: against: it is the arm itself; leave against out, or name another arm", a.Name)
			continue
		}
		if have := armNamesOf(arms); a.Against != "" && !slices.Contains(have, a.Against) {
			s.addProblem(s.nodeOf("arms."+a.Name), "arm %s: against: no other arm %q%s", a.Name, a.Against, hint.DidYouMean(a.Against, have))
		}
	}
	if len(arms) == 0 && resolveAlias(n).Kind == yaml.MappingNode && len(s.list) == 0 {
		s.addProblem(n, "no arms; name at least one, or leave arms: out")
	}
	return arms
}

// neighbour checks the value of the key neighbour: the name of a neighbour of the experiment, or none.
func (w Words) neighbour(text string) (string, error) {
	if text != noneWord && len(w.neighbours) == 0 {
		return "", fmt.Errorf("neighbour %q is not defined: define it under neighbours: {%s: {kind: %s}}", text, text, strings.Join(w.neighbourKinds(), " or "))
	}
	return oneOf("neighbour", append([]string{noneWord}, w.neighbours...))(text)
}

// twinWord is reserved: tare itself adds an arm of this name, the baseline again.
const twinWord = "twin"

// withoutNone replaces the word none of the neighbour by an empty text.
func (a ArmSpec) withoutNone() ArmSpec {
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

// readIsolation reads the key isolation: one mechanism or a list of them.
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
			s.addProblem(item, "%v", err)
			continue
		}
		name, _, _ := strings.Cut(v, "=")
		switch {
		case slices.ContainsFunc(all, func(have string) bool { h, _, _ := strings.Cut(have, "="); return h == name }):
			s.addProblem(item, "isolation %q is named twice", name)
		case name == noneWord && len(items) > 1:
			s.addProblem(item, "isolation %q beside others", noneWord)
		case name != noneWord:
			all = append(all, v)
		}
	}
	*to = all
}

// readSet reads an arm's parameters. Experiment.check checks them later, when all workloads are known.
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

func isolationNode(all []string) *yaml.Node {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return scalar(all[0])
	}
	return listNode(all)
}

func setNode(set map[string]string) *yaml.Node {
	if len(set) == 0 {
		return nil
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		m.Content = append(m.Content, scalar(name), scalar(set[name]))
	}
	return m
}

// writeArms writes the named arms, each on a line of its own; without named arms the list of names.
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

// applyArm sets one key of a named arm, for --set. path has the arm's name, the key, and after the key
// set the parameter.
func applyArm(arms []ArmSpec, path []string, n *yaml.Node, words Words, s *sink) {
	i := slices.IndexFunc(arms, func(a ArmSpec) bool { return a.Name == path[0] })
	keys := armKeys(words)
	switch {
	case i < 0 && len(arms) == 0:
		s.addProblem(n, "the experiment does not say what its arms have; tare presets show NAME > FILE, then name in FILE below arms: each arm, as %s: {environment: %s}", path[0], path[0])
	case i < 0:
		s.addProblem(n, "no arm %q%s", path[0], hint.DidYouMean(path[0], armNamesOf(arms)))
	case len(path) == 3 && path[1] == "set":
		arms[i].Set = maps.Clone(arms[i].Set)
		if arms[i].Set == nil {
			arms[i].Set = map[string]string{}
		}
		if v, ok := scalarText(path[2], n, s); ok {
			arms[i].Set[path[2]] = v
		}
	case len(path) != 2 || path[1] == "set":
		s.addProblem(n, "no such path; want arms.ARM.KEY or arms.ARM.set.PARAM")
	default:
		k, ok := find(keys, path[1])
		if !ok {
			s.addProblem(n, "an arm has no %q%s", path[1], hint.DidYouMean(path[1], names(keys)))
			return
		}
		k.read(&arms[i], n, s)
		arms[i] = arms[i].withoutNone()
	}
}
