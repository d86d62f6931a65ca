package experiment

import (
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/units"
)

// key is one key of a mapping in the file, with its help, how its value is read into a T and written, and which
// values it takes. The tables below are the language of experiment files: reader, writer, --set and schema follow them.
type key[T any] struct {
	name, help string
	read       func(*T, *yaml.Node, *sink)
	write      func(*T) *yaml.Node // nil: nothing is written
	takes      shape               // for Schema
	unset      func(*T) bool       // of a key of one value: it is the zero value
}

// experimentKeys are the keys at the top of the file.
func experimentKeys(words Words) []key[Experiment] {
	return slices.Concat(questionKeys(words), partKeys(words))
}

// questionKeys say how precisely, for how long and on what is measured.
func questionKeys(words Words) []key[Experiment] {
	type e = Experiment
	return []key[e]{
		about("name of the result; without it the name of the file", text("name", "", 1, func(x *e) *string { return &x.Name })),
		about("one line for the report", text("title", "", 0, func(x *e) *string { return &x.Title })),
		duration("budget", "time of the whole run", time.Second, 7*24*time.Hour, false,
			func(x *e) *time.Duration { return &x.Budget }),
		ratio("precision", "wanted half-width of the intervals", 0.0001, 0.5,
			func(x *e) *float64 { return &x.Precision }),
		ratio("margin", "smallest effect that matters", 0.0001, 0.5,
			func(x *e) *float64 { return &x.Margin }),
		{
			"limits", "largest costs that pass, by metric: {throughput: 5%, p99: 10%}",
			func(x *e, n *yaml.Node, s *sink) { readLimits(x, n, words, s) },
			func(x *e) *yaml.Node { return writeLimits(x.Limits) },
			limitsShape(), nil,
		},
		sparse(value("until", "decided: the run may stop as soon as every limit is", wordShape([]string{UntilPrecise, UntilDecided}), readUntil,
			func(bool) string { return UntilDecided }, func(x *e) *bool { return &x.UntilDecided })),
		value("seed", "orders the arms; auto: chosen and recorded", countShape(0, 0), seed, formatAuto[uint64], func(x *e) *uint64 { return &x.Seed }),
		volumeKey("what is under the data: layer (the arm's own root file system), bind (a directory of the host), dir:/PATH, tmpfs, loop:ext4 ...", words,
			func(x *e) *string { return &x.Volume }),
		word("unequal", "arms of weaker or stronger durability than the baseline: refuse (skipped) or mark (compared, and every result marked)",
			[]string{Refuse, Mark}, func(x *e) *string { return &x.Unequal }),
		text("scratch", "directory on the file system under test; empty: the default", 0,
			func(x *e) *string { return &x.Scratch }),
		count("generations", "launches of all arms; auto: as the budget allows", 10_000,
			func(x *e) *int { return &x.Generations }),
		duration("window", "measured slice of an arm; auto: the pilot chooses", 2*time.Millisecond, 10*time.Minute, true,
			func(x *e) *time.Duration { return &x.Window }),
		duration("discard", "thrown away after each thaw; auto: the pilot chooses", time.Millisecond, time.Minute, true,
			func(x *e) *time.Duration { return &x.Discard }),
	}
}

// partKeys say what is compared. arms comes behind the neighbours and before the workloads that name them.
func partKeys(words Words) []key[Experiment] {
	type e = Experiment
	return []key[e]{
		{
			"neighbours", "loads that make noise beside an arm",
			func(x *e, n *yaml.Node, s *sink) { readNeighbours(x, n, words, s) },
			func(x *e) *yaml.Node { return writeNeighbours(x, words) },
			byName("neighbour", noneWord, 0, false), nil,
		},
		{
			"arms", words.armsHelp(),
			func(x *e, n *yaml.Node, s *sink) {
				readArmsKey(&x.Named, &x.Arms, x.baselines(), n, words.withNeighbours(x), s)
			},
			func(x *e) *yaml.Node { return writeArms(x.Named, x.Arms, words) },
			armsShape(words), nil,
		},
		{
			"baseline", "",
			func(x *e, n *yaml.Node, s *sink) { readBaseline(x, n, words.of(x), s) },
			func(*e) *yaml.Node { return nil }, // each workload has it
			described("the arm that the others are compared with", nameShape(words.Arms)), nil,
		},
		{
			"workloads", "",
			func(x *e, n *yaml.Node, s *sink) { readWorkloads(x, n, words.of(x), s) },
			func(x *e) *yaml.Node { return writeWorkloads(x, words) },
			described("loads, by name", byName("workload", "workloads", 1, false)), nil,
		},
		{
			"sizes", "settings to choose with --set size=NAME",
			func(x *e, n *yaml.Node, s *sink) { readSizes(x, n, s) },
			func(x *e) *yaml.Node { return writeSizes(x) },
			sizesShape(), nil,
		},
	}
}

// workloadKeys are the keys of one workload. kind comes first: it decides which parameters the
// workload has.
func workloadKeys(words Words) []key[Workload] {
	type w = Workload
	return []key[w]{
		{
			"kind", "",
			func(x *w, n *yaml.Node, s *sink) { readKind(x, n, words, s) },
			func(x *w) *yaml.Node { return scalar(x.Kind) },
			described("the load", wordShape(words.kindNames())), nil,
		},
		{
			"params", "",
			func(x *w, n *yaml.Node, s *sink) { readParams(x, n, words, s) },
			func(x *w) *yaml.Node { return writeParams(x, words) },
			described("parameters of the kind", shape{}), nil,
		},
		value("share", "weight in the division of the budget", numberShape(0.01, 100), share, formatNumber, func(x *w) *float64 { return &x.Share }),
		sparse(value("optional", "true: only when --workload names it", wordShape([]string{"true", "false"}), truth("optional"), strconv.FormatBool, func(x *w) *bool { return &x.Optional })),
		sparse(value("objective", "latency that is good enough; the answer says of each arm whether it is",
			patternShape(objectivePattern), objective, formatObjective, func(x *w) *Objective { return &x.Objective })),
		{
			"arms", "all: those of the experiment",
			func(x *w, n *yaml.Node, s *sink) {
				readArmsKey(&x.Named, &x.Arms, []string{x.Baseline}, n, words, s)
			},
			func(x *w) *yaml.Node { return writeArms(x.Named, x.Arms, words) },
			armsShape(words), nil,
		},
		{
			"baseline", "what the arms are compared with",
			func(x *w, n *yaml.Node, s *sink) {
				have := words.armWords()
				if len(x.Named) > 0 {
					have = armNamesOf(x.Named)
				}
				readWord(&x.Baseline, "baseline", have, n, s)
			},
			func(x *w) *yaml.Node { return scalar(x.Baseline) },
			nameShape(words.Arms), nil,
		},
	}
}

func find[T any](keys []key[T], name string) (key[T], bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key[T]{}, false
}

func names[T any](keys []key[T]) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.name)
	}
	return out
}

// value makes a key of one value from the functions that read and write its text.
func value[T any, V comparable](name, help string, takes shape, parse func(string) (V, error), format func(V) string, field func(*T) *V) key[T] {
	return key[T]{
		name, help,
		func(x *T, n *yaml.Node, s *sink) { readValue(field(x), name, parse, n, s) },
		func(x *T) *yaml.Node { return scalar(format(*field(x))) },
		takes,
		func(x *T) bool { return *field(x) == *new(V) },
	}
}

// sparse leaves a key that is not set out of what is written.
func sparse[T any](k key[T]) key[T] {
	write := k.write
	k.write = func(x *T) *yaml.Node {
		if k.unset(x) {
			return nil
		}
		return write(x)
	}
	return k
}

// about adds a description to the schema of a key that needs no help in a file.
func about[T any](text string, k key[T]) key[T] {
	k.takes = described(text, k.takes)
	return k
}

func asIs(text string) string { return text }

func text[T any](name, help string, least int, field func(*T) *string) key[T] {
	return value(name, help, textShape(least), atLeast(name, least), asIs, field)
}

func word[T any](name, help string, words []string, field func(*T) *string) key[T] {
	return value(name, help, wordShape(words), oneOf(name, words), asIs, field)
}

// volumeKey is the key volume: what is under the data directory.
func volumeKey[T any](help string, words Words, field func(*T) *string) key[T] {
	return value("volume", help, textShape(0), func(text string) (string, error) { return text, words.volume(text) }, asIs, field)
}

func duration[T any](name, help string, least, most time.Duration, auto bool, field func(*T) *time.Duration) key[T] {
	format := func(d time.Duration) string {
		if auto && d == 0 {
			return autoWord
		}
		return formatDuration(d)
	}
	return value(name, help, durationShape(least, most, auto), durationWithin(name, least, most, auto), format, field)
}

func ratio[T any](name, help string, least, most float64, field func(*T) *float64) key[T] {
	return value(name, help, ratioShape(least, most), ratioWithin(name, least, most), formatRatio, field)
}

func bytesKey[T any](name, help string, least, most int64, field func(*T) *int64) key[T] {
	return value(name, help, bytesShape(least, most), bytesWithin(name, least, most), units.Bytes, field)
}

func count[T any](name, help string, most int, field func(*T) *int) key[T] {
	return value(name, help, countShape(1, most), countUpTo(name, most), formatAuto[int], field)
}
